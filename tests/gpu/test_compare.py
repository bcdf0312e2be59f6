#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the comparisons of the kit on small inputs with a known answer: every error must be found.

usage: test_compare.py ANALYZER    (reads Kineto's files)
"""
import contextlib
import copy
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

import compare
import figures

ANALYZER = sys.argv.pop(1) if len(sys.argv) > 1 else "build/analyzer"
COLUMNS = ["task", "device", "stream", "name", "kind", "type", "core", "enqueue_ns", "queued_ns", "submit_ns", "start_ns",
           "end_ns", "bytes", "correlation", "thread", "call", "status"]

# As Kineto of PyTorch 2.x writes them; times are microseconds since baseTimeNanoseconds.
KINETO = {
    "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "baseTimeNanoseconds": 1700000000000000000,
    "traceEvents": [
        {"ph": "X", "cat": "kernel", "ts": 1000.5, "dur": 12.288, "pid": 0, "tid": 7,
         "name": "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >"
                 "(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
         "args": {"device": 0, "context": 1, "stream": 7, "correlation": 11}},
        {"ph": "X", "cat": "kernel", "ts": 1020.25, "dur": 3.072, "pid": 0, "tid": 7,
         "name": "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_cublas",
         "args": {"device": 0, "context": 1, "stream": 7, "correlation": 12}},
        {"ph": "X", "cat": "gpu_memcpy", "ts": 1030, "dur": 2.5, "pid": 0, "tid": 7, "name": "Memcpy HtoD (Pageable -> Device)",
         "args": {"device": 0, "context": 1, "stream": 7, "correlation": 13, "bytes": 4096}},
        {"ph": "X", "cat": "cuda_runtime", "ts": 990, "dur": 8, "pid": 100, "tid": 100, "name": "cudaLaunchKernel",
         "args": {"correlation": 11}},
    ]}
# The same events from the shim: demangled names without parameters, another clock.
OURS = [("at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >", "kernel", 500, 12788),
        ("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_cublas", "kernel", 20250, 23322),
        ("Memcpy HtoD", "copy", 30000, 32500)]
TRUTH = {"kernels": {"known_spin": 2}, "moves": {"Memcpy HtoD": 1}, "copied_bytes": 64, "captured": 4,
         "syncs": {"stream": 1}, "calls": {"cudaLaunchKernel": 2},
         "spins": [{"before_ns": 5000000, "after_ns": 9000000, "event_ns": 2000000, "device_ns": 2000000}]}
KNOWN = [("known_spin", "kernel", 1000000, 6000000), ("known_spin", "kernel", 6000000, 8000000),
         ("Memcpy HtoD", "copy", 8100000, 8200000)]
REPORT = {
    "capture": {"sources": [{"name": name, "produced": 3, "lost": 0, "adds_up": True} for name in ("api", "device")]},
    "join": {"tasks": 3, "matched": 3, "unmatched_tasks": 0, "ambiguous": 0, "unmatched_launches": 4,
             "clock": {"clock": "CLOCK_MONOTONIC", "error_ns": 0, "before_enqueue": 0}},
    "api": [{"function": "cudaLaunchKernel", "count": 6}],
    "devices": [{"name": "GPU", "window_ns": 10, "busy_ns": 7, "idle_ns": 3, "copy_ns": 1, "compute_ns": 6}],
    "idle": {"total_ns": 3, "causes": [{"cause": "sleep", "ns": 2}, {"cause": "runnable", "ns": 1}],
             "gaps": [{"duration_ns": 3, "parts": [{"ns": 1}, {"ns": 2}]}]}}


class Compare(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def save(self, name, what):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(what if isinstance(what, str) else json.dumps(what))
        return self.path(name)

    def tables(self, name, tasks, moved=64):
        os.makedirs(self.path(name), exist_ok=True)
        with open(os.path.join(self.path(name), "tasks.csv"), "w", encoding="utf-8", newline="") as file:
            rows = csv.DictWriter(file, COLUMNS, restval="")
            rows.writeheader()
            for task, kind, start, end in tasks:
                rows.writerow({"name": task, "kind": kind, "stream": 1, "enqueue_ns": start - 100, "start_ns": start,
                               "end_ns": end, "bytes": moved if kind == "copy" else "", "call": 1})
        return self.path(name)

    def failures(self, command, *args):
        """Names of the checks that fail; every verdict is a complete line."""
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            compare.COMMANDS[command][0](*args)
        lines = [line.split("\t") for line in text.getvalue().splitlines()]
        self.assertTrue(lines)
        self.assertEqual({3}, {len(line) for line in lines})
        return [check for verdict, check, _ in lines if verdict == "fail"]

    def known_failures(self, change=None, tasks=None, truth=None, moved=64):
        report = copy.deepcopy(REPORT)
        if change:
            change(report)
        return self.failures("known", self.save("truth", truth or TRUTH), self.tables("known", tasks or KNOWN, moved),
                             self.save("report", report))

    # ---- known.cu

    def test_known_is_right(self):
        self.assertEqual([], self.known_failures())

    def test_a_missing_kernel(self):
        self.assertEqual(["launches of known_spin", "measured kernels"], self.known_failures(tasks=KNOWN[:1] + KNOWN[2:]))

    def test_a_stranger(self):
        self.assertEqual(["nothing else on the device"], self.known_failures(tasks=KNOWN + [("other", "kernel", 1, 2)]))

    def test_bytes(self):
        self.assertEqual(["bytes copied"], self.known_failures(moved=63))

    def test_times(self):
        longer = KNOWN[:1] + [("known_spin", "kernel", 6000000, 8031000)] + KNOWN[2:]
        self.assertEqual(["times against cudaEvents", "times against the device's own timer"],
                         self.known_failures(tasks=longer))

    def test_a_clock_that_is_off(self):
        late = [(name, kind, start + 2000000, end + 2000000) for name, kind, start, end in KNOWN]
        self.assertEqual(["the clock's error is kept"], self.known_failures(tasks=late))
        self.assertEqual([], self.known_failures(lambda report: report["join"]["clock"].update(error_ns=1000000), late))

    def test_an_error_that_is_not_stated(self):
        late = [(name, kind, start + 2000000, end + 2000000) for name, kind, start, end in KNOWN]
        for change in (lambda report: report["join"]["clock"].pop("error_ns"),
                       lambda report: report["join"]["clock"].update(error_ns=None)):
            for tasks in (KNOWN, late):
                self.assertEqual(["the clock's error is stated"], self.known_failures(change, tasks))

    def test_joins(self):
        self.assertEqual(["tasks joined to their call", "tasks without a call, in doubt"],
                         self.known_failures(lambda report: report["join"].update(matched=2, unmatched_tasks=1)))

    def test_calls(self):
        self.assertEqual(["calls of cudaLaunchKernel"], self.known_failures(lambda report: report["api"][0].update(count=5)))

    def test_losses(self):
        self.assertEqual(["nothing lost of device"],
                         self.known_failures(lambda report: report["capture"]["sources"][1].update(lost=1)))

    def test_idle_sums(self):
        self.assertEqual(["idle time by cause"], self.known_failures(lambda report: report["idle"]["causes"].pop()))
        self.assertEqual(["busy and idle are the whole"],
                         self.known_failures(lambda report: report["devices"][0].update(busy_ns=6)))
        self.assertEqual(["gaps whose parts do not add up"],
                         self.known_failures(lambda report: report["idle"]["gaps"][0]["parts"].pop()))

    def test_the_shim_alone(self):
        lines = ["task 1 _Z10known_spinyPy 1 0 77 1 0 0 0 0 1000000 6000000 900000 5000",
                 "task 2 _Z10known_spinyPy 1 0 77 1 0 0 0 0 6000000 8000000 900000 5000",
                 "task 3 Memcpy HtoD 2 0 77 1 64 0 0 0 8100000 8200000 8000000 5000",
                 "task 4 Stream synchronize 5 0 77 1 0 0 0 0 8000000 8200000 8000000 5000",
                 "device 0 gpu clock 1 NVIDIA H100 80GB HBM3",
                 "counts source cupti produced 4 delivered 4 lost 0 untimed 0 in_flight 0"]
        truth = self.save("truth", TRUTH)
        self.assertEqual([], self.failures("known", truth, self.save("tasks", "\n".join(lines) + "\n")))
        lines[2] = lines[2].replace(" 77 ", " 0 ")
        lines[-1] = lines[-1].replace("untimed 0", "untimed 1")
        self.assertEqual(["nothing lost of device", "tasks with their call"],
                         self.failures("known", truth, self.save("tasks", "\n".join(lines) + "\n")))

    # ---- Kineto

    def kineto_tables(self, name, change=None):
        file = copy.deepcopy(KINETO)
        if change:
            change(file["traceEvents"])
        os.makedirs(self.path(name), exist_ok=True)
        subprocess.run([ANALYZER, "export", "--to", "csv", "-o", self.path(name), "--device",
                        self.save(name + ".json", file)], check=True, capture_output=True)
        return self.path(name)

    def test_kineto_is_the_same(self):
        self.assertEqual([], self.failures("kineto", self.tables("ours", OURS), self.kineto_tables("theirs")))

    def test_kineto_has_another(self):
        theirs = self.kineto_tables("theirs", lambda events: events.append(dict(events[1], ts=1025.0)))
        self.assertEqual(["tasks in all", "tasks by name", "device time in all"],
                         self.failures("kineto", self.tables("ours", OURS), theirs))

    def test_kineto_is_slower(self):
        theirs = self.kineto_tables("theirs", lambda events: events[0].update(dur=13.0))
        self.assertEqual(["device time in all"], self.failures("kineto", self.tables("ours", OURS), theirs))
        # Not more than the difference between Kineto's own two runs.
        again = self.kineto_tables("again", lambda events: events[0].update(dur=15.0))
        self.assertEqual([], self.failures("kineto", self.tables("ours", OURS), theirs, again))

    def test_only_what_the_job_counts(self):
        job = self.save("job", {"begin_ns": 20000, "end_ns": 40000})
        theirs = self.save("theirs.job", {"begin_ns": 1700000000001020000, "end_ns": 1700000000001040000})
        self.assertEqual([], self.failures("kineto", self.tables("ours", OURS) + ":" + job,
                                           self.kineto_tables("theirs") + ":" + theirs))

    def test_nothing_at_all(self):
        self.assertIn("there are tasks", self.failures("kineto", self.tables("none", []), self.tables("nothing", [])))

    # ---- Names

    def test_names(self):
        same = [("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
                 "TensorListMetadata<3>, float>(int)", "multi_tensor_apply_kernel"),
                ("at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::X<(anonymous namespace)::Y> >",
                 "multi_tensor_apply_kernel"),
                ("_ZN2at6native29vectorized_elementwise_kernelILi4EXEEv", "vectorized_elementwise_kernel"),
                ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm>(cutlass::Params)", "Kernel2"),
                ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
                ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                 "ncclDevKernel_AllReduce_Sum_f32_RING_LL")]
        for name, short in same:
            self.assertEqual(short, figures.short_name(name))

    # ---- Steps, plants, collectives

    def test_attached(self):
        steps = {"steps": [[0, 90, 1], [100, 190, 1], [200, 290, 1], [300, 390, 1]]}
        kernels = [("known_tiny", "kernel", at, at + 5) for at in (20, 120, 220, 320)]
        where = self.save("steps", steps)
        self.assertEqual([], self.failures("attached", where, self.tables("all", kernels)))
        self.assertEqual(["kernels of these steps"],
                         self.failures("attached", where, self.tables("hole", kernels[:2] + kernels[3:])))
        self.assertEqual(["kernels of these steps"], self.failures("attached", where, self.tables("tail", kernels[:3])))
        self.assertEqual([], self.failures("attached", where, self.tables("tail", kernels[:3]), "0", "300"))
        self.assertEqual([], self.failures("attached", where, self.tables("tail", kernels[:3]), "0", "9999", "5"))
        self.assertEqual(["kernels of these steps"],
                         self.failures("attached", where, self.tables("hole", kernels[:2] + kernels[3:]), "0", "9999", "0"))
        self.assertEqual(["device times came"], self.failures("attached", where, self.tables("none", [])))

    def test_cost(self):
        steps = self.save("steps", {"steps": [[0, 10, 1], [20, 40, 1], [50, 60, 1]]})
        self.assertEqual([], self.failures("cost", steps, self.save("windows", "bare 0 15\nshim 16 45\nbare 46 70\n")))
        self.assertEqual(["step, shim"], self.failures("cost", steps, self.save("windows", "bare 0 15\nshim 16 30\n")))

    def test_plants(self):
        self.assertEqual([], self.failures("plant", "loader", self.save("report", REPORT)))
        self.assertEqual(["planted: gil"], self.failures("plant", "gil", self.save("report", REPORT)))
        report = copy.deepcopy(REPORT)
        report["idle"]["causes"][1]["ns"] = 5
        # A process that was not planted took the CPU.
        self.assertEqual([], self.failures("plant", "loader", self.save("report", report)))
        self.assertEqual([], self.failures("plant", "thief", self.save("report", report)))
        report["devices"][0].update(copy_ns=7)
        self.assertEqual([], self.failures("plant", "copy", self.save("report", report)))

    def test_nccl(self):
        report = dict(REPORT, api=[{"function": "ncclAllReduce", "count": 80}])
        for expected, collectives in (([], 80), (["calls of ncclAllReduce"], 81)):
            self.assertEqual(expected, self.failures("nccl", self.save("job", {"collectives": collectives}),
                                                     self.save("report", report), self.tables("tasks", [])))


if __name__ == "__main__":
    unittest.main()
