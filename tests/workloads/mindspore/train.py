#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A MindSpore training on the CPU whose data pipeline can be slowed down at one known place.

generator or folder of images -> shuffle -> native map (images) -> Python map -> batch -> network

Prints {"pid", "ready"} before its first batch, and at last what it did: steps, rows, the median step and
the median wait for a batch in it (milliseconds, without the first two), and when the training began
and ended by CLOCK_MONOTONIC.
"""
import argparse
import json
import os
import statistics
import time

os.environ.setdefault("GLOG_v", "3")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--rows", type=int, default=640, help="of an epoch")
    add("--batch", type=int, default=32)
    add("--epochs", type=int, default=2)
    add("--network", choices=["convolutions", "perceptron", "none"], default="convolutions",
        help="none: batches are fetched and forgotten")
    add("--pynative", action="store_true", help="operator by operator, not as a graph")
    add("--folder", help="images in a folder for each class, instead of the generator")
    add("--source-ms", type=float, default=0, help="the generator sleeps so long for each row")
    add("--image", type=int, default=64, help="edge of the generator's images, pixels")
    add("--workers", type=int, default=2, help="of source, native map and batch")
    add("--blurs", type=int, default=0, help="of each image at full size, in the native map")
    add("--map", choices=["cheap", "burn", "sleep", "none"], default="cheap", help="what the Python map does")
    add("--map-ms", type=float, default=5, help="for how long, for each row; burn: of CPU time")
    add("--map-workers", type=int, default=2)
    add("--processes", action="store_true", help="generator and Python map work in processes")
    add("--own-profile", help="folder for the files of MindData's own profiler")
    add("--own-interval", type=int, default=100, help="of its samples, ms")
    return parser.parse_args()


args = parse_arguments()

import numpy as np  # noqa: E402
import mindspore as ms  # noqa: E402
import mindspore.dataset as ds  # noqa: E402
import mindspore.dataset.vision as vision  # noqa: E402
from mindspore import nn  # noqa: E402

SIDE = 32  # size of the images that the network gets


class Source:
    """Random images that are made before the training."""

    def __init__(self):
        random = np.random.default_rng(7)
        self.images = random.integers(0, 256, (args.rows, args.image, args.image, 3), np.uint8)

    def __len__(self):
        return args.rows

    def __getitem__(self, index):
        if args.source_ms:
            time.sleep(args.source_ms / 1e3)
        return self.images[index], np.int32(index % 10)


def cheap(image):
    return image + np.float32(0.5)


def burn(image):
    end = time.thread_time_ns() + int(args.map_ms * 1e6)
    while time.thread_time_ns() < end:
        pass
    return image


def sleep(image):
    time.sleep(args.map_ms / 1e3)
    return image


def make_pipeline():
    if args.folder:
        data = ds.ImageFolderDataset(args.folder, num_parallel_workers=args.workers, shuffle=False, decode=True)
    else:
        data = ds.GeneratorDataset(Source(), ["image", "label"], num_parallel_workers=args.workers, shuffle=False,
                                   python_multiprocessing=args.processes, max_rowsize=1)
    native = [vision.GaussianBlur(7, 3.0)] * args.blurs
    native += [vision.Resize((SIDE, SIDE)), vision.RandomHorizontalFlip(0.5), vision.Rescale(1 / 255, 0), vision.HWC2CHW()]
    data = data.shuffle(64).map(native, "image", num_parallel_workers=args.workers)
    if args.map != "none":
        data = data.map([{"cheap": cheap, "burn": burn, "sleep": sleep}[args.map]], "image",
                        num_parallel_workers=args.map_workers, python_multiprocessing=args.processes, max_rowsize=1)
    return data.batch(args.batch, drop_remainder=True, num_parallel_workers=args.workers)


def convolutions():
    """LeNet's layers."""
    def stage(inputs, outputs):
        return [nn.Conv2d(inputs, outputs, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2)]
    return nn.SequentialCell(*stage(3, 6), *stage(6, 16), nn.Flatten(), nn.Dense(16 * 5 * 5, 120), nn.ReLU(),
                             nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10))


def perceptron():
    return nn.SequentialCell(nn.Flatten(), nn.Dense(3 * SIDE * SIDE, 256), nn.ReLU(), nn.Dense(256, 10))


def make_step():
    """Returns the function that processes a batch."""
    if args.network == "none":
        return lambda images, labels: None
    network = convolutions() if args.network == "convolutions" else perceptron()
    optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(network, nn.CrossEntropyLoss()), optimizer).set_train()
    return lambda images, labels: step(images, labels).asnumpy()


class OwnProfiler:
    """MindData's own profiler: its files can be compared with a trace of the same training."""

    def __init__(self, folder):
        import mindspore._c_dataengine as engine
        self.folder = folder
        self.manager = engine.GlobalContext.profiling_manager()
        os.makedirs(folder, exist_ok=True)
        self.manager.init()
        self.manager.start()

    def end(self):
        self.manager.stop()
        self.manager.save(self.folder)


def median_ms(spans):
    return statistics.median(spans[2:] or [0]) / 1e6


def train(step, iterator):
    waits, steps = [], []
    begin = time.monotonic_ns()
    for _ in range(args.epochs):
        before = time.monotonic_ns()
        for images, labels in iterator:
            fetched = time.monotonic_ns()
            step(images, labels)
            now = time.monotonic_ns()
            waits.append(fetched - before)
            steps.append(now - before)
            before = now
    return {"steps": len(steps), "rows": args.rows * args.epochs, "step_ms_p50": median_ms(steps),
            "wait_ms_p50": median_ms(waits), "t_begin_mono": begin, "t_end_mono": time.monotonic_ns()}


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE if args.pynative else ms.GRAPH_MODE, device_target="CPU")
    ms.set_seed(1)
    ds.config.set_prefetch_size(8)
    ds.config.set_monitor_sampling_interval(args.own_interval)
    profiler = OwnProfiler(args.own_profile) if args.own_profile else None
    step = make_step()
    iterator = make_pipeline().create_tuple_iterator(num_epochs=args.epochs, output_numpy=False)
    print(json.dumps({"pid": os.getpid(), "ready": True}), flush=True)
    done = train(step, iterator)
    if profiler:
        profiler.end()
    print(json.dumps(done), flush=True)


main()
