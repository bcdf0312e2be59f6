#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare the argument positions of a catalog with a runtime's own headers.

    tests/tools/check_prototypes.py CATALOG HEADER-OR-FOLDER...

For use by hand, where the headers are available; it is no part of the tests. For each
function that a header declares: does it have enough parameters, is each name a
string, is each value that is read through a pointer a pointer, is a stream's parameter called
so, are bytes and counts integers? Prints the differences and the number of compared functions;
exits with 1 if there is a difference.
"""
import os
import re
import sys

FLOATING = re.compile(r"^(const )?(float|double)\b(?! ?\*)")
ARGUMENT = re.compile(r"^(\w+)=(\*?)(\d+)((?:\[\d+\]){0,2})(?::\d)?$")
STREAM = re.compile(r"stream|queue|command_?list|stm", re.I)


def texts(paths):
    for path in paths:
        if os.path.isfile(path):
            files = [path]
        else:
            files = [os.path.join(d, f) for d, _, names in os.walk(path) for f in names
                     if f.endswith((".h", ".hpp"))]
        for name in files:
            with open(name, errors="replace") as f:
                text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", f.read(), flags=re.S)
                yield re.sub(r"^\s*#.*?(?<!\\)$", " ", text, flags=re.M | re.S)


def parameters(text):
    """The parameters that positions count, split at commas outside parentheses."""
    found, depth, start = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            found.append(" ".join(text[start:i].split()))
            start = i + 1
    found = [] if found in ([""], ["void"]) else found
    return [p for p in found if not FLOATING.match(p)]


def prototypes(paths, wanted):
    found = {}
    for text in texts(paths):
        for match in re.finditer(r"\b(\w+)\s*\(((?:[^();{}]|\([^();{}]*\))*)\)[^;{}()]*;", text):
            params = parameters(match.group(2))
            # Names without types are a call, not a prototype.
            if match.group(1) in wanted and (not params or any(" " in p for p in params)):
                found.setdefault(match.group(1), []).append(params)
    return found


def lines(path):
    with open(path) as f:
        for number, line in enumerate(f, 1):
            words = line.split("#")[0].split()
            if len(words) > 2 and "*" not in words[0] and words[0] not in (
                    "runtime", "family", "library", "error", "driver", "ioctl"):
                yield number, words[0], words[3:]


def widths(params):
    """The parameter of each register: structures of three integers by value take two registers."""
    registers = []
    for p in params:
        registers += [p] * (2 if re.search(r"\bdim3\b(?! ?\*)", p) else 1)
    return registers


def wrong(argument, params):
    match = ARGUMENT.match(argument)
    if not match:
        return None
    role, out, position, inside = match.group(1), match.group(2), int(match.group(3)), match.group(4)
    if position > len(params):
        return f"there are {len(params)} parameters"
    p = params[position - 1]
    pointer = "*" in p or "[" in p or bool(re.match(r"(const )?\w+(_t|Handle|_handle)? \w+$", p))
    if role == "name" and not inside and not re.search(r"\bchar(_t)?\b|void ?\* ?\w*Name$", p):
        return f"no string: {p}"
    if (out or inside) and not pointer:
        return f"no pointer: {p}"
    if role == "stream" and not inside and not STREAM.search(p):
        return f"no stream: {p}"
    if role in ("bytes", "count") and not out and not inside and "*" in p:
        return f"no integer: {p}"
    return None


def main(catalog, paths):
    wanted = {name for _, name, _ in lines(catalog)}
    found = prototypes(paths, wanted)
    bad = compared = 0
    for number, name, arguments in lines(catalog):
        if name not in found:
            continue
        compared += 1
        for argument in arguments:
            # If there are several declarations (versions, overloads), one of them must fit.
            reasons = [wrong(argument, widths(params)) for params in found[name]]
            if all(reasons):
                print(f"{catalog}:{number}: {name} {argument}: {reasons[0]}")
                bad += 1
    print(f"{catalog}: {compared} of {len(wanted)} functions compared, {bad} arguments do not fit")
    return bad > 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
