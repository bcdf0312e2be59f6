#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulated Ascend as MindSpore's own Ascend back end needs it (x86-64 only).

usage: build.py VENV OUT
VENV has MindSpore's wheel, which contains the back end but not CANN. Makes OUT/Ascend/latest/lib64/*.so: the
simulator's libraries, and further functions that the back end needs according to its own files: operators
(aclnn*) launch a kernel of their name, all other functions do nothing and succeed. Prints the
LD_LIBRARY_PATH to use. Kernels compute nothing, so results are meaningless; the calls are the framework's own.
Do not run a job in the folder of these libraries: MindSpore searches its working directory, too.
"""
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SIM = os.path.dirname(HERE)
CFLAGS = ["-D_GNU_SOURCE", "-std=gnu11", "-O2", "-g", "-fPIC", "-fvisibility=hidden", "-w"]
API = re.compile(r"(acl(rt|mdl|op|nn|tdt|prof|Init|Fin|Get|Set|Create|Destroy)\w*|rt[A-Z][A-Za-z]+|Hccl[A-Z][A-Za-z]+)")
EMPTY = "ge_runner platform profapi c_sec ascendalog mmpa register atb".split()
# Functions of the operators' library that are no operators.
NO_OPERATORS = {"aclnnInit", "aclnnFinalize"}
NOTHING = "{s}: xor %eax,%eax\n nop\n nop\n ret\n"
# Passes its own name as fifth argument.
OPERATOR = '{s}: lea 1f(%rip),%r8\n jmp sim_operator@PLT\n1: .asciz "{s}"\n'
# Passes the arguments in registers, pushed to the stack, and the arguments on the stack.
PREPARE = """{s}: push %r9
 push %r8
 push %rcx
 push %rdx
 push %rsi
 push %rdi
 mov %rsp,%rdi
 lea 56(%rsp),%rsi
 push %rbx
 mov %rsp,%rbx
 and $-16,%rsp
 call sim_prepare@PLT
 mov %rbx,%rsp
 pop %rbx
 add $48,%rsp
 ret
"""


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def symbols(path):
    """The symbols that a library defines, and those that it imports."""
    has, lacks = set(), set()
    for line in output("readelf", "-W", "--dyn-syms", path).splitlines():
        words = line.split()
        if len(words) < 8 or not words[0].endswith(":"):
            continue
        name = words[7].split("@")[0]
        if words[6] != "UND":
            has.add(name)
        elif words[4] != "WEAK":
            lacks.add(name)
    return has, lacks


def needs(venv):
    """Names that the back end imports and no library defines, and names that it looks up at run time."""
    home = glob.glob(venv + "/lib/python3*/site-packages/mindspore")
    if not home:
        sys.exit(f"{venv}: no MindSpore in it: pip install mindspore")
    plugin = home[0] + "/lib/plugin/"
    wanted = [plugin + name for name in (
        "libmindspore_ascend.so.2", "libmindspore_ops_ascend.so", "ascend/libmindspore_ascend_res_manager.so",
        "ascend/libmindspore_graph_ir.so", "ascend/libd_collective.so", "ascend/libhccl_plugin.so",
        "ascend/libdvpp_utils.so")] + glob.glob(plugin + "ascend/**/libshmem.so", recursive=True)
    libraries = set(glob.glob(plugin + "*ascend*.so*") + glob.glob(home[0] + "/*.so") +
                    glob.glob(home[0] + "/lib/*.so*") + glob.glob(plugin + "ascend/**/*.so", recursive=True))
    tables = {path: symbols(path) for path in libraries}
    host = re.findall(r"=> (/\S+)", "".join(output("ldd", path) for path in (
        glob.glob(home[0] + "/_c_dataengine*.so")[0], venv + "/bin/python")))
    had = set().union(*(table[0] for table in tables.values()),
                      *(symbols(path)[0] for path in host if os.path.exists(path)))
    missing = set().union(*(tables[path][1] for path in wanted)) - had
    looked_up = {line for path in wanted[:3] for line in output("strings", "-a", path).splitlines()
                 if API.fullmatch(line)}
    shared = glob.glob(home[0] + "/**/libshmem.so", recursive=True)
    return {name for name in missing if not name.startswith(("Py", "_Py"))}, looked_up, shared


class Builder:
    def __init__(self, out):
        self.out = out
        self.libraries = out + "/Ascend/latest/lib64"
        os.makedirs(self.libraries, exist_ok=True)
        self.had = set()

    def link(self, name, *sources):
        path = f"{self.libraries}/lib{name}.so"
        subprocess.run(["gcc", *CFLAGS, "-shared", "-Wl,--no-as-needed", f"-Wl,-soname,lib{name}.so",
                        "-Wl,-rpath,$ORIGIN", "-o", path, *sources, "-L" + self.libraries, "-pthread"], check=True)
        self.had |= symbols(path)[0]

    def stubs(self, name, functions):
        path = f"{self.out}/{name}.s"
        with open(path, "w", encoding="utf-8") as file:
            file.write('.section .note.GNU-stack,"",@progbits\n.text\n')
            for function in sorted(set(functions) - self.had):
                body = NOTHING
                if function.startswith("aclnn") and function not in NO_OPERATORS:
                    body = PREPARE if function.endswith("GetWorkspaceSize") else OPERATOR
                file.write(f".globl {function}\n.type {function},@function\n.p2align 4\n" +
                           body.replace("{s}", function) + f".size {function},.-{function}\n")
        return path


def main(venv, out):
    missing, looked_up, shared = needs(os.path.abspath(venv))
    builder = Builder(os.path.abspath(out))
    named = looked_up | {name for name in missing if not name.startswith("_Z")}
    operators = {re.sub("GetWorkspaceSize$", "", name) for name in named if name.startswith("aclnn")}
    # Names that the back end composes when it compiles a graph.
    operators |= {"aclnn" + name for name in "Adds Add Muls Sub Mul Div Matmul Mm Addmm InplaceCopy Cast Relu Copy".split()}
    profiler = {name for name in named if name.startswith("aclprof")}
    api = {name for name in named if name.startswith(("acl", "rt", "hal")) and not name.startswith("aclnn")} - profiler

    builder.link("ascend_hal", SIM + "/device.c", SIM + "/counter.c", SIM + "/profile.c")
    builder.link("runtime", SIM + "/runtime.c", "-lascend_hal")
    builder.link("hccl", SIM + "/hccl.c", "-lruntime", "-lascend_hal")
    # The simulator's functions first, then stubs for the missing functions of the same library.
    own = [SIM + "/acl.c", SIM + "/tdt.c", HERE + "/frameworks.c"]
    builder.link("ascendcl", *own, "-lruntime", "-lascend_hal")
    builder.link("hccl", SIM + "/hccl.c", builder.stubs("hccl", {n for n in named if n.startswith("Hccl")}),
                 "-lruntime", "-lascend_hal")
    builder.link("ascendcl", *own, builder.stubs("acl", api), "-lruntime", "-lascend_hal")
    builder.link("graph", builder.stubs("ge", {name for name in missing if name.startswith("_Z")}), "-lascendcl")
    builder.link("msprofiler", builder.stubs("prof", profiler))
    builder.link("opapi", builder.stubs("nn", operators | {name + "GetWorkspaceSize" for name in operators}),
                 "-lascendcl")
    with open(builder.out + "/empty.c", "w", encoding="utf-8") as file:
        file.write("\n")
    for name in EMPTY:
        builder.link(name, builder.out + "/empty.c")
    for name, original in {"acl_tdt_channel": "ascendcl", "acl_op_compiler": "ascendcl", "nnopbase": "opapi"}.items():
        # Separate sonames, so that the loader does not take them for another library.
        builder.link(name, builder.out + "/empty.c", f"-l{original}")
    print("LD_LIBRARY_PATH=" + ":".join([builder.libraries] + [os.path.dirname(path) for path in shared[:1]]))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
