#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs of MindSpore's own Ascend back end, on CANN libraries that compute nothing: the calls are those of a real job.

usage: ascend.py operators|training|graph|queue [ARGUMENT]

operators     100 calls of relu, then 70 of matmul, one at a time
training      20 steps of a perceptron with two layers: forward twice, backward once, with one batch of MindData
graph         20 runs of that perceptron compiled as a graph, its operators launched one by one
queue FOLDER  200 batches of MindData sent to the device, each with 16 rows that sleep 1 ms; MindData's own profile
              is written to FOLDER
"""
import os
import sys
import time

os.environ.setdefault("GLOG_v", "4")
import numpy as np  # noqa: E402
import mindspore as ms  # noqa: E402
import mindspore.dataset as ds  # noqa: E402
from mindspore import mint, nn  # noqa: E402

ROWS, INPUTS, HIDDEN, OUTPUTS = 16, 64, 128, 10
STEPS, BATCHES = 20, 200


class Perceptron(nn.Cell):
    def __init__(self):
        super().__init__()
        self.hidden = mint.nn.Linear(INPUTS, HIDDEN)
        self.output = mint.nn.Linear(HIDDEN, OUTPUTS)

    def construct(self, rows):
        return self.output(mint.nn.functional.relu(self.hidden(rows)))


def numbers(*shape):
    return np.full(shape, 0.25, np.float32)


def plain(row):
    return row + np.float32(1)


def slow(row):
    time.sleep(0.001)
    return plain(row)


def operators():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    rows, weights = ms.Tensor(numbers(ROWS, INPUTS)), ms.Tensor(numbers(INPUTS, INPUTS))
    for _ in range(100):
        result = mint.nn.functional.relu(rows)
    for _ in range(70):
        result = mint.matmul(rows, weights)
    result.asnumpy()


def training():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    network = Perceptron()
    parameters = network.trainable_params()

    def loss(rows, wanted):
        return mint.mean((network(rows) - wanted) * (network(rows) - wanted))

    gradients_of = ms.value_and_grad(loss, None, parameters)
    data = ds.NumpySlicesDataset((numbers(STEPS * ROWS, INPUTS), numbers(STEPS * ROWS, OUTPUTS)), ["rows", "wanted"],
                                 shuffle=False)
    data = data.map([plain], "rows", num_parallel_workers=2).batch(ROWS)
    for rows, wanted in data.create_tuple_iterator(num_epochs=1):
        value, gradients = gradients_of(rows, wanted)
        for parameter, gradient in zip(parameters, gradients):
            mint.sub(parameter, gradient)
        value.asnumpy()


def graph():
    ms.set_context(mode=ms.GRAPH_MODE, jit_config={"jit_level": "O0"})
    network, rows = Perceptron(), ms.Tensor(numbers(ROWS, INPUTS))
    for _ in range(STEPS):
        network(rows).asnumpy()


def queue(folder):
    import mindspore._c_dataengine as engine
    ds.config.set_monitor_sampling_interval(200)
    profiler = engine.GlobalContext.profiling_manager()
    profiler.init()
    profiler.start()
    data = ds.NumpySlicesDataset((numbers(BATCHES * ROWS, INPUTS),), ["rows"], shuffle=False)
    data = data.map([slow], "rows", num_parallel_workers=2).batch(ROWS)
    sender = data.device_que()  # it sends as long as a reference to it exists
    sender.send(1)
    # Two workers take 1.6 s for 3,200 rows; there is no sign that the last batch has been sent.
    time.sleep(4)
    profiler.stop()
    os.makedirs(folder, exist_ok=True)
    profiler.save(folder)


ms.set_device("Ascend")
{"operators": operators, "training": training, "graph": graph, "queue": queue}[sys.argv[1]](*sys.argv[2:])
# An orderly exit is impossible: there is no device to close.
os._exit(0)
