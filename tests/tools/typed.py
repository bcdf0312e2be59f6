#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Extracts the commands and files that a reader of a document types: the fences that are marked for it.

usage: typed.py run DOCUMENT      the commands of its fences ```sh run, in order, each behind a line that shows it
       typed.py files DOCUMENT    writes its fences ```TYPE file NAME into the working directory
       typed.py tree DOCUMENT     makes its examples' changes to the tree in the working directory: fences ```TYPE new
                                  PATH are files, ```diff are for patch -p1
       typed.py make DOCUMENT...  the arguments of each `make` in any fence, marked or not, one command a line

A marked command ends with its line. What stands behind a space and "# " is a comment.
"""
import os
import re
import shlex
import subprocess
import sys

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"\s+# .*$")


def fences(path):
    """(words of the mark, text) of each fence."""
    with open(path, encoding="utf-8") as file:
        return [(mark.split(), text) for mark, text in FENCE.findall(file.read())]


def commands(path, every=False):
    for mark, text in fences(path):
        if mark == ["sh", "run"] or every:
            yield from (command for command in (COMMENT.sub("", line) for line in text.splitlines()) if command.strip())


def main(what, paths):
    if what == "run":
        for command in commands(paths[0]):
            print(f"printf '$ %s\\n' {shlex.quote(command)}\n{command}")
    elif what == "files":
        for mark, text in fences(paths[0]):
            if mark[1:2] == ["file"]:
                with open(mark[2], "w", encoding="utf-8") as file:
                    file.write(text)
    elif what == "tree":
        for mark, text in fences(paths[0]):
            if mark[1:2] == ["new"]:
                os.makedirs(os.path.dirname(mark[2]), exist_ok=True)
                with open(mark[2], "x", encoding="utf-8") as file:
                    file.write(text)
                print("new", mark[2])
            elif mark == ["diff"]:
                subprocess.run(["patch", "-p1", "--no-backup-if-mismatch"], input=text, text=True, check=True)
    elif what == "make":
        for path in paths:
            for command in commands(path, every=True):
                found = re.match(r"(?:sudo )?make (.*)", command)
                if found:
                    print(found[1])


if len(sys.argv) < 3 or sys.argv[1] not in ("run", "files", "tree", "make"):
    sys.exit(__doc__)
main(sys.argv[1], sys.argv[2:])
