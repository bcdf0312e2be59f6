#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write catalog/aclnn.catalog from the headers of CANN's operator libraries.

    tests/tools/aclnn_catalog.py FOLDER... >catalog/aclnn.catalog

FOLDER is a checkout (or a bare repository, whose HEAD is read) of ops-math,
ops-nn, ops-cv, ops-transformer or another project with op_api/aclnn_*.h. From each
header the script takes the position of the executor among the parameters of
aclnnXGetWorkspaceSize. An operator for which two headers disagree is left out and
named on standard error.
"""
import os
import re
import subprocess
import sys

HEADER = re.compile(r"(^|/)aclnn_[^/]*\.h$")
PHASE1 = re.compile(r"\b(aclnn\w+)GetWorkspaceSize\s*\(([^;{}()]*)\)\s*;")
PHASE2 = re.compile(r"\b(aclnn\w+)\s*\(([^;{}()]*\baclOpExecutor\s*\*\s*\w*\s*,[^;{}()]*)\)\s*;")


def headers(folder):
    """The texts of the headers of a checkout or of a bare repository."""
    if os.path.isdir(os.path.join(folder, "objects")):
        git = ["git", "-C", folder]
        names = subprocess.run(git + ["ls-tree", "-r", "--name-only", "HEAD"], check=True,
                               capture_output=True, text=True).stdout.splitlines()
        for name in filter(HEADER.search, names):
            yield subprocess.run(git + ["show", "HEAD:" + name], check=True, capture_output=True,
                                 text=True, errors="replace").stdout
        return
    for path, _, files in os.walk(folder):
        for name in files:
            if HEADER.search(name):
                with open(os.path.join(path, name), errors="replace") as f:
                    yield f.read()


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)


def parameters(text):
    return [" ".join(p.split()) for p in text.split(",")]


def is_floating(parameter):
    """Whether a parameter is passed in a floating-point register, which positions in catalogs do not count."""
    return re.match(r"(const )?(float|double)\b(?! ?\*)", parameter) is not None


def executor_position(params):
    """The executor's position among the parameters that are not floating-point; 0 if the last one is no executor."""
    if len(params) < 3 or not re.search(r"aclOpExecutor ?\* ?\*", params[-1]):
        return 0
    return sum(not is_floating(p) for p in params)


def main(folders):
    first, second = {}, set()
    for folder in folders:
        for text in headers(folder):
            text = without_comments(text)
            for name, params in PHASE1.findall(text):
                first.setdefault(name, set()).add(executor_position(parameters(params)))
            for name, params in PHASE2.findall(text):
                params = parameters(params)
                if (len(params) == 4 and "aclrtStream" in params[3]
                        and "aclOpExecutor" in params[2]):
                    second.add(name)
    print("""# SPDX-License-Identifier: Apache-2.0
# aclnn operators in two phases: aclnnXGetWorkspaceSize(..., size *, executor **)
# prepares X, aclnnX(workspace, size, executor, stream) launches it. The executor
# joins the two; X is what is counted.
#
# Written by tests/tools/aclnn_catalog.py from the headers op_api/aclnn_*.h of the
# public operator libraries of CANN (ops-math, ops-nn and ops-cv of August 2026,
# ops-transformer of November 2025). A position holds for that version: where an older one has
# fewer parameters, the launches of that operator count as unprepared. The lines with a
# * are for operators that are not listed; their phases are not joined.
#
# None is plain: hundreds of functions of C++, and operators of users' own that match the
# patterns, for which nobody can vouch.

runtime acl
family  acl
library libopapi.so* libaclnn_*.so* libcust_opapi.so*
error   nonzero                               # aclnnStatus: 0 is success

aclnn*                                launch  1  stream=4 correlation=3 bytes=2 name=aclnn*
aclnn*GetWorkspaceSize                compile 1  name=aclnn*GetWorkspaceSize
!aclnnInit
!aclnnFinalize
!aclnnGetMem*
!aclnnCreate*
!aclnnSet*
""")
    written = 0
    for name in sorted(first):
        positions = first[name]
        if len(positions) != 1 or 0 in positions or max(positions) > 64:
            print(f"left out: {name}: executor at {sorted(positions)}", file=sys.stderr)
            continue
        if name not in second:
            print(f"left out: {name}: no aclnnX(workspace, size, executor, stream)", file=sys.stderr)
            continue
        print(f"{name + 'GetWorkspaceSize':<55} compile 1  correlation=*{positions.pop()} "
              "name=aclnn*GetWorkspaceSize")
        written += 1
    print(f"{written} operators", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
