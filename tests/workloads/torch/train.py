#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch training on the CPU that counts the batches of its DataLoader.

usage: train.py [OPTION...] WORKERS STEPS

STEPS batches of 16 rows in each epoch; a batch is two tensors, made by WORKERS processes (0: by the trainer itself). One
batch is fetched per step, and each step is a forward pass, a backward pass and an update. Prints
"running" after the third step, and "steps N", the number of batches, at the end.

--go FILE: prints "ready" when all libraries are loaded, and waits until FILE exists.
--pin: the loader runs as on a machine with an accelerator: it starts its pin-memory thread, which
takes the workers' batches, copies them (to ordinary memory: there is no device to pin it for) and
passes them on.
"""
import argparse
import os
import time

import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data._utils import pin_memory

ROWS = 16  # of a batch
PIXELS = 3 * 32 * 32
CLASSES = 10


class Rows(Dataset):
    """Row N depends only on the number N, and takes some CPU time."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        row = torch.arange(PIXELS, dtype=torch.float32).add_(number).sin_()
        for _ in range(12):
            row = torch.sigmoid(row + row.mean())
        return row, number % CLASSES


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 12, kernel_size=3, padding=1)
        self.classes = torch.nn.Linear(12 * 32 * 32, CLASSES)

    def forward(self, rows):
        images = rows.view(-1, 3, 32, 32)
        return self.classes(torch.relu(self.convolution(images)).flatten(start_dim=1))


def copy_of(data, device=None):
    if isinstance(data, torch.Tensor):
        return data.clone()
    return [copy_of(part, device) for part in data] if isinstance(data, (list, tuple)) else data


def pretend_accelerator():
    torch.accelerator.is_available = lambda: True
    torch.accelerator.current_accelerator = lambda *unused: torch.device("cpu")
    torch.accelerator.current_device_index = lambda: 0
    torch.accelerator.set_device_index = lambda index: None
    pin_memory.pin_memory = copy_of


def make_loader(args):
    options = {}
    if args.workers:
        options = {"persistent_workers": True, "multiprocessing_context": args.start_method}
    return DataLoader(Rows(args.steps * ROWS), batch_size=ROWS, num_workers=args.workers, pin_memory=args.pin, **options)


def train(args):
    torch.manual_seed(0)
    network = Network()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    loss_of = torch.nn.CrossEntropyLoss()
    loader = make_loader(args)
    steps = 0
    for _ in range(args.epochs):
        for rows, labels in loader:
            optimizer.zero_grad()
            loss_of(network(rows), labels).backward()
            optimizer.step()
            steps += 1
            if steps == 3:
                print("running", flush=True)
    print("steps", steps, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("workers", type=int)
    parser.add_argument("steps", type=int, help="of an epoch")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--start-method", choices=["fork", "spawn", "forkserver"], default="fork")
    parser.add_argument("--pin", action="store_true")
    parser.add_argument("--go")
    args = parser.parse_args()
    if args.pin:
        pretend_accelerator()
    if args.go:
        print("ready", flush=True)
        while not os.path.exists(args.go):
            time.sleep(0.05)
    train(args)


if __name__ == "__main__":
    main()
