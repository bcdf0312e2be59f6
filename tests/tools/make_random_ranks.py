#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_random_ranks.py FOLDER SEED: writes random traces of a job's four ranks, in the format of PyTorch's profiler.

Ranks compute, copy, allocate, wait for each other in collectives of several groups, in steps that a slow rank makes long, on a
coarse clock, so that many events have the same instant; some figures are missing. The output for a seed is the same on
every machine. The report shows how analyses behave if two times are equal, a value is missing or a list is empty:
tests/e2e/stored_outputs.sh compares it.
"""
import json
import os
import sys

RANKS = 4
UNIT = 50  # us: all instants are multiples of it
KERNELS = ["gemm", "softmax", "layer_norm", "ampere_sgemm_128x64", "elementwise"]
OPERATORS = ["aten::mm", "aten::add", "aten::copy_", "aten::softmax", "autograd::engine::evaluate_function"]
GROUPS = [[0, 1, 2, 3], [0, 1], [2, 3], [0, 2], [1, 3]]
COLLECTIVES = [("allreduce", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"), ("_allgather_base", "ncclDevKernel_AllGather_RING_LL"),
               ("send", "ncclDevKernel_SendRecv")]
FIGURES = ["registers per thread", "shared memory", "blocks per SM", "warps per SM", "est. achieved occupancy %"]


class Chance:
    """A separate random generator, because Python's may change."""
    def __init__(self, seed):
        self.state = (seed * 2654435761 + 1) % 2**64

    def up_to(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % limit

    def of(self, some):
        return some[self.up_to(len(some))]


class Rank:
    def __init__(self, rank, chance, alone):
        self.rank, self.chance, self.alone = rank, chance, alone
        self.pid = 42 if alone else 42 + rank
        self.events, self.correlation, self.allocated, self.addresses = [], 1, 1 << 20, []
        self.free = {7: 0, 9: 0, 20: 0}

    def event(self, category, name, thread, start, units, **args):
        pid = 0 if category in ("kernel", "gpu_memcpy", "gpu_memset") else self.pid
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": thread, "ts": start * UNIT, "dur": units * UNIT,
                            "args": args})

    def device(self, category, name, stream, start, units, **args):
        start = max(start, self.free[stream])
        self.free[stream] = start + units
        self.event(category, name, stream, start, units, device=0, stream=stream, **args)
        return start + units

    def memory(self, at):
        chance = self.chance
        if self.addresses and chance.up_to(2):
            address, size = self.addresses.pop(chance.up_to(len(self.addresses)))
            size = -size
        else:
            address, size = 0x1000 * (1 + chance.up_to(64)), 256 << chance.up_to(6)
            self.addresses.append((address, size))
        self.allocated += size
        args = {"Device Type": 1 if chance.up_to(5) else 0, "Device Id": 0, "Addr": address, "Bytes": size}
        if chance.up_to(6):
            args.update({"Total Allocated": self.allocated, "Total Reserved": (self.allocated >> 20) + 1 << 20})
        self.events.append({"ph": "i", "s": "t", "name": "[memory]", "pid": self.pid, "tid": self.pid, "ts": at * UNIT, "args": args})

    def operator(self, thread, at, depth):
        """Adds an operator with its calls and launches, from an instant on; returns its end."""
        chance, begin, number = self.chance, at, self.correlation
        self.correlation += 1
        name = chance.of(OPERATORS)
        at += chance.up_to(2)
        for _ in range(chance.up_to(3)):
            if depth and chance.up_to(3) == 0:
                at = self.operator(thread, at, depth - 1)
                continue
            self.correlation += 1
            call = chance.of(["cudaLaunchKernel", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize", "cudaMalloc"])
            units = chance.up_to(3)
            self.event("cuda_runtime", call, thread, at, units, correlation=self.correlation)
            self.given(call, at + chance.up_to(2), number)
            at += units
            if chance.up_to(3) == 0:
                self.memory(at)
        at += chance.up_to(2)
        args = {"External id": number}
        if chance.up_to(3):
            args.update({"Input Dims": [[8, 1 << chance.up_to(3)], []], "Input type": ["float", ""]})
        self.event("cpu_op", name, thread, begin, at - begin, **args)
        return at

    def given(self, call, at, number):
        chance, args = self.chance, {"correlation": self.correlation}
        if chance.up_to(4):
            args["External id"] = number
        if call == "cudaLaunchKernel" and chance.up_to(12):
            if chance.up_to(2):
                args.update({"grid": [1 + chance.up_to(4), 1, 1], "block": [128, 1, 1], chance.of(FIGURES): chance.up_to(50)})
            self.device("kernel", chance.of(KERNELS), chance.of([7, 7, 9]), at, chance.up_to(8), **args)
        elif call == "cudaMemcpyAsync":
            way = chance.of(["HtoD (Pageable -> Device)", "DtoH (Device -> Pinned)", "DtoD (Device -> Device)"])
            self.device("gpu_memcpy", "Memcpy " + way, 9, at, chance.up_to(4), bytes=1024 << chance.up_to(4), **args)

    def step(self, number, begin):
        """Adds the rank's own work of a step; returns when its host has finished it."""
        chance, at = self.chance, begin
        if chance.up_to(3):
            units = chance.up_to(6)
            self.event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", self.pid, at, units)
            at += units
        for _ in range(4 + chance.up_to(4)):
            first = at
            at = self.operator(self.pid if chance.up_to(3) else self.pid + 100, at, 2)
            if chance.up_to(4) == 0:
                self.event("python_function", chance.of(["train.py(12): step", "nn.Module: Linear_0", "torch/nn/functional.py(3): relu"]),
                           self.pid, first, at - first)
        if chance.up_to(2):
            self.event("user_annotation", "Optimizer.step#SGD.step", self.pid, at, 2)
            at += 2
        return at

    def written(self):
        whole = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": self.events,
                 "baseTimeNanoseconds": 1_700_000_000_000_000_000}
        if not self.alone:
            whole["distributedInfo"] = {"backend": "nccl", "rank": self.rank, "world_size": RANKS,
                                        "pg_config": [{"pg_desc": "PIPELINE_MODEL_PARALLEL_GROUP", "ranks": group} for group in GROUPS[3:]]}
        return whole


def together(ranks, chance, group, ends):
    """Adds a collective: each rank of the group arrives after its work, and all leave at nearly the same instant."""
    kind, name = chance.of(COLLECTIVES)
    if kind == "send" and len(group) > 2:
        kind, name = COLLECTIVES[0]
    members = [ranks[number] for number in group if number < len(ranks)]
    if not members:
        return
    starts = [max(ends[rank.rank] + chance.up_to(2), rank.free[20]) for rank in members]
    end = max(starts) + 1 + chance.up_to(4)
    args = {"Collective name": kind, "Process Group Ranks": str(group), "In msg nelems": 1024 << chance.up_to(3), "dtype": "Float",
            "Group size": len(group)}
    if chance.up_to(5) == 0:
        del args["dtype"]
    for rank, start in zip(members, starts):
        if chance.up_to(20):
            rank.device("kernel", name, 20, start, end - start + (chance.up_to(10) == 0), **args)


def main():
    folder, seed = sys.argv[1], int(sys.argv[2])
    chance, begin = Chance(seed), 10
    ranks = [Rank(number, chance, seed % 3 == 0) for number in range(1 if seed % 3 == 0 else RANKS)]
    slow = chance.up_to(len(ranks))
    for number in range(12):
        ends = []
        for rank in ranks:
            end = rank.step(number, begin)
            if rank.rank == slow and chance.up_to(4):
                end = rank.device("kernel", "gemm", 7, end, 10 + chance.up_to(20))
            ends.append(end)
        for group in GROUPS:
            if chance.up_to(3):
                together(ranks, chance, group, ends)
        end = max(ends + [rank.free[20] for rank in ranks])
        for rank in ranks:
            if chance.up_to(15):
                rank.event("user_annotation", "ProfilerStep#%d" % (7 + number), rank.pid, begin, end - begin)
        begin = end + chance.of([0, 0, 1, 5])
    os.makedirs(folder, exist_ok=True)
    for rank in ranks:
        # Devices are numbered in the order of their files, which may differ from the order of ranks.
        with open("%s/rank%d.json" % (folder, RANKS - 1 - rank.rank if seed % 3 == 2 else rank.rank), "w", encoding="utf-8") as file:
            json.dump(rank.written(), file)


if __name__ == "__main__":
    main()
