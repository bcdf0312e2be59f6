#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes stand-ins for the CUDA libraries that PyTorch's wheel is linked to: without them torch cannot be imported.

usage: torch_stubs.py SITE-PACKAGES

NVIDIA's libraries take 3 GB; a training on the CPU calls none of them. For each library that a library in torch/lib needs
and that is missing, torch/lib gets a library of that name with the versioned functions that the wheel's libraries import:
each returns 1, which is an error in all CUDA libraries. Prints a line for each library. Needs readelf and gcc.
"""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

SYSTEM = ["/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib64", "/usr/lib64"]
# The library of a function: the longest matching prefix of its name decides.
OWNERS = {
    "cublas": "libcublas", "cublasLt": "libcublasLt", "cudnn": "libcudnn", "cufft": "libcufft", "curand": "libcurand",
    "cusparse": "libcusparse", "cusparseLt": "libcusparseLt", "cusolver": "libcusolver", "cuFile": "libcufile",
    "nccl": "libnccl", "pnccl": "libnccl", "nvrtc": "libnvrtc", "nvshmem": "libnvshmem_host",
    "nvJitLink": "libnvJitLink", "__nvJitLink": "libnvJitLink",
}


def read_elf(path):
    """The libraries that the library at path needs, the names that it defines, and (name, version) of undefined
    names."""
    text = subprocess.run(["readelf", "--wide", "--dynamic", "--dyn-syms", path], capture_output=True, text=True,
                          check=True).stdout
    has, lacks = set(), set()
    for line in text.splitlines():
        words = line.split()
        if len(words) < 8 or not re.fullmatch(r"\d+:", words[0]):
            continue
        name, _, version = words[7].replace("@@", "@").partition("@")
        if words[6] != "UND":
            has.add(name)
        elif words[4] == "GLOBAL":
            lacks.add((name, version))
    return re.findall(r"\(NEEDED\).*\[(.+)\]", text), has, lacks


def owner(function):
    """The library of a function, without its version number, or None."""
    return OWNERS.get(max((begin for begin in OWNERS if function.startswith(begin)), key=len, default=None))


def make_library(path, functions):
    """functions: (name, version) of each; "" for no version."""
    names = sorted({name for name, _ in functions})
    by_version = collections.defaultdict(list)
    for name, version in functions:
        if version:
            by_version[version].append(name)
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/stubs.c", "w", encoding="ascii") as file:
            file.writelines(f"int {name}(void) {{ return 1; }}\n" for name in names)
        command = ["gcc", "-w", "-shared", "-fPIC", "-nostdlib", "-Wl,-soname," + os.path.basename(path), "-o", path]
        if by_version:
            with open(folder + "/versions", "w", encoding="ascii") as file:
                file.writelines(f"{version} {{ global: {'; '.join(sorted(members))}; }};\n"
                                for version, members in sorted(by_version.items()))
            command.append(f"-Wl,--version-script={folder}/versions")
        subprocess.run(command + [folder + "/stubs.c"], check=True)


def main(packages):
    torch = glob.glob(f"{packages}/torch/lib/*.so*")
    if not torch:
        sys.exit(f"torch_stubs.py: no libraries in {packages}/torch/lib: install torch first")
    others = glob.glob(f"{packages}/nvidia/**/*.so*", recursive=True)
    there = {os.path.basename(path) for path in torch + others}
    for folder in SYSTEM:
        there |= {os.path.basename(path) for path in glob.glob(folder + "/*.so*")}
    wanted, had, lacking = set(), set(), set()
    for path in torch + others:
        needed, has, lacks = read_elf(path)
        had |= has
        if path in torch:
            wanted |= set(needed) - there
            lacking |= lacks
    lacking = {function for function in lacking if function[0] not in had}
    for library in sorted(wanted):
        functions = [function for function in lacking if owner(function[0]) == library.partition(".so")[0]]
        make_library(f"{packages}/torch/lib/{library}", functions)
        print(f"{library}: {len(functions)} functions")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
