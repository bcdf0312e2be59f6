#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop of PyTorch on the CPU without a data loader: loop.py TURNS.

Each turn is a forward pass, a backward pass and an update. Prints "ready", waits for a line on its
standard input, works, prints "turns=N" and "done", and waits for another line.
"""
import sys

import torch

turns = int(sys.argv[1])
torch.set_num_threads(1)
torch.manual_seed(0)
network = torch.nn.Sequential(*(layer for _ in range(6) for layer in (torch.nn.Linear(64, 64), torch.nn.ReLU())))
optimizer = torch.optim.Adam(network.parameters())


def turn():
    loss = network(torch.randn(32, 64)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


turn()
print("ready", flush=True)
sys.stdin.readline()
for _ in range(turns):
    turn()
print(f"turns={turns}\ndone", flush=True)
sys.stdin.readline()
