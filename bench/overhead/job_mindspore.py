# SPDX-License-Identifier: Apache-2.0
"""Trains LeNet with MindSpore on the CPU, on images of a MindData pipeline whose last map is Python."""
import os

os.environ.setdefault("GLOG_v", "3")
# Idle threads of its pools spin. With more threads than CPUs, step times depend on the scheduler: means over 2 s differ
# by 9 %.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import mindspore as ms
import numpy as np
from mindspore import dataset, nn
from mindspore.dataset import vision

from steps import Steps

IMAGES, ROWS, BATCH, WORKERS = 640, 100000, 32, 2


class Images:
    def __init__(self):
        generator = np.random.default_rng(0)
        self.images = generator.integers(0, 255, size=(IMAGES, 64, 64, 3), dtype=np.uint8)
        self.labels = generator.integers(0, 10, size=(IMAGES,), dtype=np.int32)

    def __len__(self):
        return ROWS

    def __getitem__(self, i):
        return self.images[i % IMAGES], self.labels[i % IMAGES]


def pipeline():
    dataset.config.set_prefetch_size(8)
    data = dataset.GeneratorDataset(Images(), ["image", "label"], shuffle=False, num_parallel_workers=WORKERS,
                                    max_rowsize=1).shuffle(64)
    data = data.map([vision.Resize((32, 32)), vision.RandomHorizontalFlip(0.5), vision.Rescale(1 / 255.0, 0.0),
                     vision.HWC2CHW()], "image", num_parallel_workers=WORKERS)
    data = data.map([lambda image: image * np.float32(1.0)], "image", num_parallel_workers=WORKERS, max_rowsize=1)
    return data.batch(BATCH, drop_remainder=True, num_parallel_workers=WORKERS)


def lenet():
    return nn.SequentialCell(
        nn.Conv2d(3, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(),
        nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10))


def main():
    steps = Steps()
    ms.set_device("CPU")
    ms.set_context(mode=ms.GRAPH_MODE, runtime_num_threads=1)
    profiler = None
    if steps.options.profiler:
        profiler = ms.profiler.profile(activities=[ms.profiler.ProfilerActivity.CPU],
                                       on_trace_ready=ms.profiler.tensorboard_trace_handler(steps.options.profiler))
    net = lenet()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
    train.set_train()
    data = pipeline()
    more = True
    while more:
        for image, label in data.create_tuple_iterator(num_epochs=1, output_numpy=False):
            train(image, label).asnumpy()
            more = steps.ended()
            if not more:
                break
    if profiler:
        profiler.stop()
    steps.leave()


if __name__ == "__main__":
    main()
