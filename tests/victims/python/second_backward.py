# SPDX-License-Identifier: Apache-2.0
"""torch: a second backward() throws through Engine::execute() and is caught, as in users' programs."""
import os
import sys
import torch

ROUNDS = int(os.environ.get("VICTIM_ROUNDS", "200")) // 4
torch.set_num_threads(1)


def run(rounds):
    caught = 0
    for _ in range(rounds):
        x = torch.ones(4, requires_grad=True)
        loss = (x * x).sum()
        loss.backward()
        try:
            loss.backward()
        except RuntimeError:
            caught += 1
    return caught == rounds


def main():
    ok = run(ROUNDS)
    sys.stderr.write("ready\n")
    sys.stderr.flush()
    os.read(0, 1)
    ok &= run(ROUNDS)
    if os.environ.get("VICTIM_LOOP"):
        os.set_blocking(0, False)
        while True:
            try:
                os.read(0, 1)
                break
            except BlockingIOError:
                ok &= run(ROUNDS)
    else:
        # Entered and returned, before the gate and after it.
        print("calls torch::autograd::Engine::execute", 2 * ROUNDS, ROUNDS, 2 * ROUNDS, ROUNDS)
    print("torch_backward", "ok" if ok else "failed")
    sys.stdout.flush()
    os._exit(0 if ok else 1)


main()
