#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the project's rules that no compiler checks; prints violations.

usage: house_rules.py    in the root of the repository

- A file and its header include no file that includes them, directly or not: no cycles, except parts of one object in
one
  folder, which share NAME_private.h; files of other folders must not include it.
- No two source files have the same base name, except main.c; no program of tests/truth has the name of a source.
- The table of tests in virtual machines names existing programs of tests/truth.
- No C file has more than 600 lines.
- The documents to read first are short, and links in documents have existing targets.
- A document in another language (NAME.zh-CN.md beside NAME.md) has the commands and the output of the English one.
- Manual pages in other languages have the options, literals, examples and figures of the English ones, section by section.
"""
import collections
import os
import re
import subprocess
import sys

SOURCES = ["analyzer", "lib", "daemon", "device"]
SAME_NAMES = {"main.c"}
C_LINES = 600
LINES = {"README.md": 120, "docs/architecture.md": 150}
# Macros of mdoc(7) whose arguments a translation leaves unchanged. Placeholders (Ar) are translated.
KEPT = {"Cm", "Ev", "Fl", "Ic", "Li", "Pa", "Va", "Xr"}
FIGURE = r"(?a)(?<![\w.])\d+(?:\.\d+)*[A-Za-z]*"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files_of(*patterns):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], check=True, capture_output=True,
                            text=True).stdout.split()
    return sorted(path for path in listed if os.path.exists(path))


def unit_of(path):
    return path[:-2]


def included(paths):
    units = {unit_of(path) for path in paths}
    found = {unit: set() for unit in units}
    for path in paths:
        for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', read(path), re.M):
            if unit_of(name) in units and unit_of(name) != unit_of(path):
                found[unit_of(path)].add(unit_of(name))
    return found


def private_headers(path):
    """The private headers of other folders that a file includes."""
    return [name for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+_private\.h)"', read(path), re.M)
            if os.path.dirname(name) != os.path.dirname(path)]


def reached(graph, begin):
    seen, todo = set(), [begin]
    while todo:
        for unit in graph[todo.pop()] - seen:
            seen.add(unit)
            todo.append(unit)
    return seen


def circles(graph):
    """Sets of units in which each unit reaches all others."""
    reach = {unit: reached(graph, unit) for unit in graph}
    return {frozenset(other for other in reach[unit] if unit in reach[other]) for unit in graph if unit in reach[unit]}


def broken():
    sources = files_of(*(folder + "/*.[ch]" for folder in SOURCES))
    for circle in sorted(map(sorted, circles(included(sources)))):
        private = any(unit.endswith("_private") for unit in circle) and len({os.path.dirname(unit) for unit in circle}) == 1
        if not private:
            yield "include each other: " + " ".join(circle)
    for path in sources:
        for name in private_headers(path):
            yield "%s includes what is private to %s: %s" % (path, os.path.dirname(name), name)
    names = collections.defaultdict(list)
    for path in [*sources, *files_of("tests/truth/*.[ch]")]:
        names[os.path.basename(path)].append(path)
    for name, paths in sorted(names.items()):
        if len(paths) > 1 and name not in SAME_NAMES:
            yield "one name: " + " ".join(paths)
    yield from unknown_programs("vmtests/tests.txt")
    for path, most in [*LINES.items(), *((path, C_LINES) for path in files_of("*.[ch]"))]:
        lines = read(path).count("\n")
        if lines > most:
            yield "%s has %d lines, %d are allowed" % (path, lines, most)
    for path in files_of("*.md"):
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", read(path)):
            if not os.path.exists(os.path.join(os.path.dirname(path), link)):
                yield "%s: there is no %s" % (path, link)


def unknown_programs(table):
    """Programs in the table of the machines' tests (a test, its lists, programs) that do not exist."""
    for line in read(table).splitlines():
        for name in line.split()[2:] if line and line[0] != "#" else []:
            source = "tests/truth/%s.c" % os.path.basename(name).removesuffix(".so")
            if not os.path.exists(source):
                yield "%s: there is no %s" % (table, source)


def fenced(path):
    """The lines in a document's fences, without comments on commands."""
    text = "\n".join(re.findall(r"^```[^\n]*\n(.*?)^```$", read(path), re.M | re.S))
    return [re.sub(r"\s+# .*", "", line) for line in text.split("\n")]


def untrue_translations():
    for path in files_of("*.md"):
        original = re.sub(r"\.[a-z]{2}(-[A-Z]{2})?\.md$", ".md", path)
        if original == path:
            continue
        if not os.path.exists(original):
            yield "%s: there is no %s" % (path, original)
            continue
        original_lines, lines = fenced(original), fenced(path)
        for wanted, line in zip(original_lines, lines):
            if wanted != line:
                yield "%s has '%s' where %s has '%s'" % (path, line, original, wanted)
        if len(original_lines) != len(lines):
            yield "%s has not all commands and output of %s" % (path, original)


def kept(line):
    """The literals that a line of mdoc(7) marks, with their macro: Fl -pid, Cm record."""
    macro = None
    for word in line[1:].split() if line.startswith(".") else []:
        if re.fullmatch("[A-Z][a-z]", word):
            macro = word
        elif macro in KEPT and not re.fullmatch(r"[.,;:?!|()]", word):
            yield macro + " " + word


def literals(lines):
    """All literals of a section, options with their macro; after .Li and .Pa words may follow."""
    found = set()
    for macro, word in (word.rstrip(",;").split(" ") for line in lines for word in kept(line)):
        if macro == "Fl":
            found.add("Fl " + word)
        elif macro not in {"Li", "Pa"} or re.search(r"[\d_./*=<-]", word):
            found.add(word)
    return found


def stands_in(word, text):
    return re.search(r"(?a)(?<![\w-])%s(?![\w-])" % re.escape(word), text)


def quoted(lines):
    """The quoted texts of .Dq and .Ql, without the full stop or comma after them."""
    return {re.sub(r" [.,;:]$", "", line[4:]) for line in lines if re.match(r"\.(Dq|Ql) ", line)}


def sections(path):
    """A page's sections in order, each a list of its lines; the first has the lines before all sections."""
    parts = [[]]
    for line in read(path).splitlines():
        if re.match(r"\.S[hs] ", line):
            parts.append([])
        if not line.startswith('.\\"'):
            parts[-1].append(line)
    return parts


def untrue_section(wanted, lines):
    """Literals that a translated section lacks, or has in addition; its name is not compared."""
    heads, translated = ([list(kept(line)) for line in part if line.startswith(".It")] for part in (wanted, lines))
    if heads != translated:
        yield "has not the same items in the same order"
    text, translated = "\n".join(wanted), "\n".join(lines)
    for word in sorted(literals(wanted) | quoted(wanted)):
        if not stands_in(word, translated):
            yield "lacks '%s'" % word
    for word in sorted(literals(lines)):
        if not stands_in(word, text):
            yield "has '%s' besides" % word
    for figure in sorted(set(re.findall(FIGURE, text)) - set(re.findall(FIGURE, translated))):
        yield "lacks the figure %s" % figure
    if examples(wanted) != examples(lines):
        yield "has other examples"


def examples(lines):
    return re.findall(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", "\n".join(lines) + "\n", re.M | re.S)


def untrue_pages():
    for path in files_of("docs/man/*/*.[1-8]"):
        english = "docs/man/" + os.path.basename(path)
        if not os.path.exists(english):
            yield "%s: there is no %s" % (path, english)
            continue
        wanted, translated = sections(english), sections(path)
        if len(wanted) != len(translated):
            yield "%s has %d sections where %s has %d" % (path, len(translated), english, len(wanted))
            continue
        for parts in zip(wanted[1:], translated[1:]):
            for what in untrue_section(*parts):
                yield "%s, %s: %s (see %s)" % (path, parts[1][0], what, english)


def main():
    bad = [*broken(), *untrue_translations(), *untrue_pages()]
    print("\n".join(bad), end="\n" if bad else "")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
