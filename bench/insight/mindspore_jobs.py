# SPDX-License-Identifier: Apache-2.0
"""mindspore_jobs.py LIBPLANT KIND faulty|healthy TASK_US PERCENT SECONDS: faults in pipelines of MindData.

Kinds that begin with ascend_ train, operator by operator, with MindSpore's own Ascend back end on the simulated Ascend
(examples/ascend-sim/mindspore); $ASCEND_SIM_OUT/truth.json has its real task times. Steps take STRETCH tasks there.
"""
import ctypes
import json
import os
import threading
import time

import planted
from planted import ASLEEP, CPU, LOADER, LOCKED, burn

os.environ.setdefault("GLOG_v", "4")
ROWS = 16
STRETCH = 10
DEVICE_WORK = (0, 1, 2, 3)  # kinds of tasks: kernels, copies, collectives
told = set()


def tell_once():
    thread = threading.get_native_id()
    if thread not in told:
        told.add(thread)
        planted.tell_root()


def decode(job, kind, work, share, row):
    tell_once()
    job.spell(kind, work, share * job.item)
    return row


def pipeline(job, prepare, workers=1, source=None, processes=False):
    """A pipeline with one item in each batch; the source is a generator, or data in memory."""
    import mindspore.dataset as ds
    import numpy as np

    row = np.ones((ROWS, 64), np.float32)
    count = job.rounds + 64
    ds.config.set_prefetch_size(2)
    if source:
        def rows():
            for _ in range(count):
                source()
                yield (row,)
        data = ds.GeneratorDataset(rows, ["rows"])
    else:
        data = ds.NumpySlicesDataset((np.ones((count, ROWS, 64), np.float32),), ["rows"], shuffle=False)
    if prepare:
        data = data.map([prepare], "rows", num_parallel_workers=workers, python_multiprocessing=processes)
    return data


def feed(job, data):
    batches = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(batches)
    planted.wait_for_go()
    job.feed(lambda: next(batches))


def mapped(work, kind, workers, causes, processes=False):
    def run(job):
        job.open()
        feed(job, pipeline(job, lambda row: decode(job, kind, work, workers, row), workers, processes=processes))
        print(f"causes={causes}\n{LOADER}where={'decode|burn|spell' if kind == LOCKED else ''}\n"
              "stage=Map")

    return run


def minddata_source(job):
    """A slow generator before a fast map."""
    job.open()
    feed(job, pipeline(job, lambda row: row, source=lambda: decode(job, ASLEEP, time.sleep, 1, None)))
    print("causes=sleep\nstage=Generator\n" + LOADER)


# ---- On the simulated Ascend


def network():
    import mindspore as ms
    import numpy as np
    from mindspore import mint, nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = mint.nn.Linear(64, 128)
            self.second = mint.nn.Linear(128, 10)

        def construct(self, x):
            return self.second(mint.nn.functional.relu(self.first(x)))

    ms.set_device("Ascend")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net = Net()
    wanted = ms.Tensor(np.ones((ROWS, 10), np.float32))
    parameters = net.trainable_params()

    def loss(rows):
        return mint.mean((net(rows) - wanted) * (net(rows) - wanted))

    gradients_of = ms.value_and_grad(loss, None, parameters)

    def step(rows):
        value, gradients = gradients_of(rows)
        for parameter, gradient in zip(parameters, gradients):
            mint.sub(parameter, gradient)
        value.asnumpy()

    return step


def tell_device(job, from_ns):
    """Pass the device's tasks since from_ns to libplant, in order of start."""
    ctypes.CDLL("libascendcl.so").aclFinalize()
    with open(os.path.join(os.environ["ASCEND_SIM_OUT"], "truth.json"), encoding="utf-8") as file:
        tasks = json.load(file)["tasks"]
    for task in sorted(tasks, key=lambda task: task["start_ns"]):
        if task["kind"] in DEVICE_WORK and task["start_ns"] >= from_ns:
            job.lib.plant_task(task["start_ns"], task["end_ns"])


def train(job, make_pipeline, before=None):
    import mindspore as ms

    job.lib.plant_share()
    job.item *= STRETCH
    job.rounds = max(8, job.rounds * 3 // STRETCH)
    step = network()
    batches = make_pipeline().create_tuple_iterator(num_epochs=1)
    for _ in range(3):
        step(*next(batches))
    ms.runtime.synchronize()
    planted.wait_for_go()
    begin = time.monotonic_ns()
    for _ in range(job.rounds):
        if before:
            before()
        step(*next(batches))
    ms.runtime.synchronize()
    tell_device(job, begin)


def trained_with(work, kind, causes):
    def run(job):
        train(job, lambda: pipeline(job, lambda row: decode(job, kind, work, 1, row)))
        print(f"causes={causes}\n{LOADER}where=decode|burn|spell")

    return run


def ascend_source(job):
    train(job, lambda: pipeline(job, lambda row: row, source=lambda: decode(job, ASLEEP, time.sleep, 1, None)))
    print("causes=sleep\n" + LOADER)


def ascend_host(job):
    """The main thread computes before it launches."""
    train(job, lambda: pipeline(job, None), lambda: decode(job, CPU, burn, 1, None))
    print("causes=user_code\nwhere=decode|burn|spell")


planted.run({
    "minddata_busy": mapped(burn, LOCKED, 1, "user_code"),
    "minddata_asleep": mapped(time.sleep, ASLEEP, 1, "sleep"),
    "minddata_two": mapped(time.sleep, ASLEEP, 2, "sleep"),
    "minddata_process": mapped(time.sleep, ASLEEP, 1, "sleep", True),
    "minddata_source": minddata_source,
    "ascend_asleep": trained_with(time.sleep, ASLEEP, "sleep"),
    "ascend_busy": trained_with(burn, LOCKED, "user_code"),
    "ascend_source": ascend_source,
    "ascend_host": ascend_host,
})
