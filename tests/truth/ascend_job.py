#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training with MindSpore's own Ascend back end, on the simulated Ascend (examples/ascend-sim/mindspore).

usage: ascend_job.py STEPS
Runs two steps, prints "ready" and waits for a line; then runs STEPS steps, each a forward pass, a second one with
the backward pass, and an update whose result is not used; prints "done" and waits for another line. Results are
meaningless: nothing is computed. MindData makes the batches; for SLEEPS of them a function in a separate thread
sleeps, longer than a step takes; main.tid= and map.tid= are the threads' ids.
"""
import ctypes
import os
import sys
import threading
import time

os.environ.setdefault("GLOG_v", "4")
import numpy as np  # noqa: E402
import mindspore as ms  # noqa: E402
import mindspore.dataset as ds  # noqa: E402
from mindspore import mint, nn  # noqa: E402

SLEEPS, SLEEP_SECONDS = 16, 0.2
tids = set()


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = mint.nn.Linear(64, 128)
        self.second = mint.nn.Linear(128, 10)

    def construct(self, x):
        return self.second(mint.nn.functional.relu(self.first(x)))


def tell(name):
    print(f"{name}.tid={threading.get_native_id()}", flush=True)


def decode(row):
    if threading.get_native_id() not in tids:
        tids.add(threading.get_native_id())
        tell("map")
    if row[0][0] <= SLEEPS:
        time.sleep(SLEEP_SECONDS)
    return row


def batches(count):
    ds.config.set_prefetch_size(2)
    numbers = np.arange(1, count + 1, dtype=np.float32).reshape(count, 1, 1)
    rows = ds.NumpySlicesDataset((np.repeat(np.repeat(numbers, 16, 1), 64, 2),), ["rows"], shuffle=False)
    rows = rows.map([decode], "rows", num_parallel_workers=1, python_multiprocessing=False)
    return rows.create_tuple_iterator(num_epochs=1)


def main(steps):
    ms.set_device("Ascend")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net = Net()
    parameters = net.trainable_params()
    data = batches(steps + 64)
    y = ms.Tensor(np.ones((16, 10), np.float32))

    def forward(x, y):
        return mint.mean((net(x) - y) * (net(x) - y))

    gradients = ms.value_and_grad(forward, None, parameters)

    def step():
        loss, found = gradients(*next(data), y)
        for parameter, gradient in zip(parameters, found):
            mint.sub(parameter, gradient)
        loss.asnumpy()

    for _ in range(2):
        step()
    ms.runtime.synchronize()
    tell("main")
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(steps):
        step()
    ms.runtime.synchronize()
    print("done", flush=True)
    sys.stdin.readline()
    # MindSpore does not call this without an orderly exit, which is not possible here.
    ctypes.CDLL("libascendcl.so").aclFinalize()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
