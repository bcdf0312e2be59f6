#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/files.md: every source file with the first sentence of its header or, without one, of its own.

Run in the repository's root; `make docs` writes the file, a test compares it."""

import pathlib
import re

ROOMS = ["bpf", "daemon", "lib", "device", "analyzer"]
HEAD = """# Files

Made from the first lines of the files by `make docs`; do not edit. [architecture.md](architecture.md) says how the
folders belong together. A header speaks for the `.c` file of the same name.
"""


def first_sentence(path):
    """The first sentence of the comment at the head of a file, without the file's name; empty if there is none."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"\A/\* SPDX[^\n]*\*/\n|\A// SPDX[^\n]*\n", "", text)
    comment = re.match(r"/\*(.*?)\*/", text, re.S)
    if comment is None:
        return ""
    lines = [re.sub(r"^\s*\*? ?", "", line).strip() for line in comment.group(1).strip().split("\n")]
    paragraph = " ".join(lines[: lines.index("")] if "" in lines else lines)
    paragraph = re.sub(r"^[\w.]+ - ", "", paragraph)
    sentence = re.match(r".*?[.:](?= [A-Z]|$)", paragraph)
    return (sentence.group() if sentence else paragraph).rstrip(".:")


def rows(folder, files):
    """Rows of one folder's table: headers, and C files that have a first sentence but no header of their name."""
    headers = {path.stem.split(".")[0] for path in files if path.suffix == ".h"}
    for path in sorted(files):
        if path.suffix == ".c" and path.name.split(".")[0] in headers:
            continue
        sentence = first_sentence(path)
        if sentence:
            yield f"| `{path.name}` | {sentence} |"


def main():
    """Prints the document."""
    folders = {}
    for room in ROOMS:
        for path in pathlib.Path(room).rglob("*.[ch]"):
            folders.setdefault(str(path.parent), []).append(path)
    print(HEAD)
    for folder in sorted(folders, key=lambda name: (ROOMS.index(name.split("/")[0]), name)):
        print(f"## {folder}\n\n| file | what it does |\n|---|---|")
        print("\n".join(rows(folder, folders[folder])) + "\n")


main()
