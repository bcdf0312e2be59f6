#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch training with a known number of steps, which prints its steps and times as JSON.

usage: job.py [OPTION...]

--steps N          the number of steps (default 30), after 5 that are not counted
--seconds S        runs steps for this time, and prints the begin and end of each
--settle S         a pause between those 5 steps and the rest, in which a recording can begin (default 0)
--compile          with torch.compile
--profile FILE     under PyTorch's own profiler (Kineto), whose trace goes to FILE
--alternate FILE   with --seconds: with and without that profiler in turn; the windows are written to FILE
--plant NAME       the planted fault: loader copy tiny item thief gil
--nccl             all-reduce of the gradients, in a group of one process
--device NAME      cuda (default) or cpu
--go FILE          starts counting when FILE exists; with --seconds, ends when it is removed

Each run starts from the same random numbers and uses the same algorithms. Times are CLOCK_MONOTONIC, in ns;
those in Kineto's trace are CLOCK_REALTIME.
"""
import argparse
import contextlib
import json
import os
import sys
import threading
import time

# Without it cuBLAS may choose another algorithm each time; must be set before cuBLAS is loaded.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch  # noqa: E402

WIDTH = 1024
BATCH = 64
WARM_UP = 5
REST_S = 0.005  # in which the device is idle, before and after the counted steps
REST_NS = 2000000  # part of it, for device times that are slightly wrong
TURN_STEPS = 40  # of a turn with or without the profiler


class Rows(torch.utils.data.Dataset):
    """Rows that each take some time."""

    def __len__(self):
        return 1 << 20

    def __getitem__(self, number):
        time.sleep(0.002)
        return torch.full((WIDTH,), float(number % 7))


def burn():
    while True:
        pass


class Training:
    def __init__(self, args):
        self.args = args
        self.device = torch.device(args.device)
        torch.manual_seed(0)
        torch.use_deterministic_algorithms(True, warn_only=True)
        layers = [torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()] * 3
        self.network = torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, 10)).to(self.device)
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.001, momentum=0.9)
        self.forward = torch.compile(self.network) if args.compile else self.network
        self.rows = torch.ones(BATCH, WIDTH, device=self.device)
        self.large = torch.ones(16 << 20)  # 64 MB, pageable
        self.batches = self.loader() if args.plant == "loader" else None
        self.collectives = 0
        self.losses = []

    def loader(self):
        loader = torch.utils.data.DataLoader(Rows(), batch_size=BATCH // 8, num_workers=1)
        return iter(loader)

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def step(self):
        plant = self.args.plant
        rows = self.rows
        if self.batches:
            rows = next(self.batches).to(self.device)
        if plant == "copy":
            self.large.to(self.device)
        if plant == "tiny":
            for _ in range(300):
                self.rows.add_(0.0)
        self.optimizer.zero_grad()
        loss = self.forward(rows).square().mean()
        if plant == "item":
            for parameter in self.network.parameters():
                parameter.sum().item()
        loss.backward()
        if self.args.nccl:
            for parameter in self.network.parameters():
                torch.distributed.all_reduce(parameter.grad)
                self.collectives += 1
        self.optimizer.step()
        if plant == "item":
            loss.item()

    def timed_step(self):
        begin = time.monotonic_ns()
        self.step()
        self.wait()
        return [begin, time.monotonic_ns(), 0]


def realtime_offset():
    return min((abs(time.clock_gettime_ns(time.CLOCK_MONOTONIC) - before), now - before) for before, now in
               ((time.clock_gettime_ns(time.CLOCK_MONOTONIC), time.clock_gettime_ns(time.CLOCK_REALTIME))
                for _ in range(20)))[1]


def profiler(args):
    activities = [torch.profiler.ProfilerActivity.CPU]
    if args.device == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    return torch.profiler.profile(activities=activities)


def begin_plant(args):
    """Starts a disturbance outside the steps. The job runs on one CPU, where the disturbance is certain to have an effect."""
    if args.plant == "thief":
        cpu = {min(os.sched_getaffinity(0))}
        for _ in range(2):
            if os.fork() == 0:
                os.sched_setaffinity(0, cpu)
                parent = os.getppid()
                while os.getppid() == parent:
                    for _ in range(1000000):
                        pass
                os._exit(0)
        os.sched_setaffinity(0, cpu)
    if args.plant == "gil":
        threading.Thread(target=burn, name="holder", daemon=True).start()


def begin_nccl(args):
    if not args.nccl:
        return
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29577")
    torch.distributed.init_process_group("nccl" if args.device == "cuda" else "gloo", rank=0, world_size=1)


def counted(args, training):
    """The counted steps, between two instants at which the device is idle."""
    profiled = profiler(args) if args.profile else contextlib.nullcontext()
    training.collectives = 0
    with profiled:
        training.wait()
        time.sleep(REST_S)
        offset = realtime_offset() if args.profile else 0
        begin = time.monotonic_ns() + offset - REST_NS
        for _ in range(args.steps):
            training.step()
        training.wait()
        end = time.monotonic_ns() + offset + REST_NS
        time.sleep(REST_S)
    if args.profile:
        profiled.export_chrome_trace(args.profile)
    return {"begin_ns": begin, "end_ns": end, "count": args.steps, "collectives": training.collectives}


def turns(args, training, steps, end):
    with open(args.alternate, "w", encoding="ascii") as windows:
        while time.monotonic_ns() < end:
            for name in ("bare", "torch.profiler"):
                with profiler(args) if name != "bare" else contextlib.nullcontext():
                    first = time.monotonic_ns()
                    for _ in range(TURN_STEPS):
                        steps.append(training.timed_step())
                    windows.write("%s %d %d\n" % (name, first, time.monotonic_ns()))


def for_seconds(args, training):
    steps, end = [], time.monotonic_ns() + int(args.seconds * 1e9)
    if args.alternate:
        turns(args, training, steps, end)
    while time.monotonic_ns() < end and (not args.go or os.path.exists(args.go)):
        steps.append(training.timed_step())
    return {"steps": steps}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--settle", type=float, default=0)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--profile")
    parser.add_argument("--alternate")
    parser.add_argument("--plant", choices=["loader", "copy", "tiny", "item", "thief", "gil"])
    parser.add_argument("--nccl", action="store_true")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--go")
    args = parser.parse_args()
    begin_nccl(args)
    training = Training(args)
    for _ in range(WARM_UP):
        training.step()
    training.wait()
    print("ready", os.getpid(), file=sys.stderr, flush=True)
    while args.go and not os.path.exists(args.go):
        time.sleep(0.01)
    time.sleep(args.settle)
    begin_plant(args)
    told = for_seconds(args, training) if args.seconds else counted(args, training)
    told.update(torch=torch.__version__, cuda=torch.version.cuda)
    print(json.dumps(told), flush=True)
    if args.nccl:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
