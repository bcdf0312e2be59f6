#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch loaders with a planted cost; the job prints its own measurements.

usage: loaders.py [OPTION...] --go FILE

Prints "ready" when all libraries are loaded, waits until FILE exists, trains, and prints a line of JSON for each loader:
its batches, its ends, the time that the trainer waited for it, and the share of the loader's whole time.

Each row takes --ms milliseconds, asleep or of CPU time by the thread's own clock. Rows for evaluation sleep for 0.5 ms.
"""
import argparse
import json
import os
import time

import numpy
import torch
from torch.utils.data import DataLoader, Dataset


def spend(how, seconds):
    if how == "sleep":
        time.sleep(seconds)
    elif how == "burn":
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass


class Rows(Dataset):
    def __init__(self, count, how, ms, kind):
        self.count, self.how, self.ms, self.kind = count, how, ms, kind

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        spend(self.how, self.ms / 1e3)
        row = torch.full((256,), float(number))
        return {
            "pair": lambda: (row, number % 10),
            "one": lambda: row,
            "array": lambda: (numpy.full(256, number, dtype=numpy.float32), number % 10),
            "dict": lambda: {"a": row, "b": row + 1, "c": {"d": number, "e": row - 1}, "f": str(number)},
            "text": lambda: str(number),
            "number": lambda: number,
        }[self.kind]()


def plain(rows):
    return list(rows)


class Timed:
    """A loader whose batches are timed from outside."""

    def __init__(self, name, loader, args):
        self.name, self.loader, self.step_s = name, loader, args.step_ms / 1e3
        self.batches = self.ends = 0
        self.wait_s = self.all_s = 0.0
        self.weights = torch.nn.Parameter(torch.ones(256))
        self.optimizer = torch.optim.SGD([self.weights], lr=0.01)

    def step(self, train):
        if train:
            self.optimizer.zero_grad()
            (self.weights * 2).sum().backward()
            self.optimizer.step()
        else:
            with torch.no_grad():
                (self.weights * 2).sum()
        spend("burn", self.step_s)

    def epoch(self, train, inner=None):
        begin = time.monotonic()
        rows = iter(self.loader)
        while True:
            start = time.monotonic()
            try:
                next(rows)
            except StopIteration:
                self.wait_s += time.monotonic() - start
                self.ends += 1
                break
            self.wait_s += time.monotonic() - start
            self.batches += 1
            self.step(train)
            if inner and self.batches % 8 == 0:
                away = time.monotonic()
                inner.epoch(False)
                begin += time.monotonic() - away
        self.all_s += time.monotonic() - begin

    def told(self):
        return {"loader": self.name, "batches": self.batches, "ends": self.ends,
                "wait_percent": round(100 * self.wait_s / self.all_s, 1) if self.all_s else None}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--go", required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batches", type=int, default=24)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--how", choices=["none", "sleep", "burn"], default="none")
    parser.add_argument("--ms", type=float, default=0)
    parser.add_argument("--step-ms", type=float, default=2)
    parser.add_argument("--kind", default="pair")
    parser.add_argument("--method", default="fork")
    parser.add_argument("--persistent", action="store_true")
    parser.add_argument("--pin", action="store_true")
    parser.add_argument("--plain", action="store_true", help="batches are lists of rows")
    parser.add_argument("--evaluate", choices=["no", "after", "inside"], default="no")
    args = parser.parse_args()
    if args.pin:
        import train
        train.pretend_accelerator()
    print("ready", flush=True)
    while not os.path.exists(args.go):
        time.sleep(0.05)
    torch.set_num_threads(1)
    options = {"batch_size": args.batch, "num_workers": args.workers, "pin_memory": args.pin}
    if args.plain:
        options["collate_fn"] = plain
    if args.workers:
        options.update(multiprocessing_context=args.method, persistent_workers=args.persistent)
    loaders = [Timed("train", DataLoader(Rows(args.batches * args.batch, args.how, args.ms, args.kind), **options), args)]
    if args.evaluate != "no":
        data = Rows(args.batches // 2 * args.batch, "sleep", 0.5, args.kind)
        loaders.append(Timed("evaluate", DataLoader(data, **options), args))
    for _ in range(args.epochs):
        loaders[0].epoch(True, loaders[1] if args.evaluate == "inside" else None)
        if args.evaluate == "after":
            loaders[1].epoch(False)
    for loader in loaders:
        print(json.dumps(loader.told()), flush=True)


if __name__ == "__main__":
    main()
