# SPDX-License-Identifier: Apache-2.0
"""Trains a small convolutional network on made-up images, until it is stopped.

The pipeline has the parts of real pipelines: a source, a shuffle, image operations in
C++, an operation in Python and a batch. Needs mindspore 2.7 or later and numpy < 2.
"""
import itertools
import os
import time

import numpy as np
import mindspore as ms
import mindspore.dataset as ds
import mindspore.dataset.vision as vision
from mindspore import nn

ROWS, BATCH, SIDE = 4096, 32, 48


class Images:
    """Random images with labels; each row has a small cost, like decoding."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.images = rng.integers(0, 255, size=(ROWS, SIDE, SIDE, 3), dtype=np.uint8)
        self.labels = rng.integers(0, 10, size=ROWS, dtype=np.int32)

    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


def normalize(image):
    return ((image - image.mean()) / (image.std() + 1e-6)).astype(np.float32)


def pipeline():
    data = ds.GeneratorDataset(Images(), ["image", "label"], shuffle=False, num_parallel_workers=1)
    data = data.shuffle(64)
    data = data.map([vision.Resize((32, 32)), vision.RandomHorizontalFlip(), vision.Rescale(1 / 255.0, 0.0),
                     vision.HWC2CHW()], "image", num_parallel_workers=1)
    data = data.map(normalize, "image", num_parallel_workers=1)
    return data.batch(BATCH, drop_remainder=True)


def network():
    return nn.SequentialCell(
        nn.Conv2d(3, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Flatten(), nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 10))


def main():
    ms.set_device("CPU")
    ms.set_context(mode=ms.GRAPH_MODE)
    net = network()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
    train.set_train()
    data = pipeline()
    print("process", os.getpid(), flush=True)
    steps = itertools.count(1)
    while True:
        for image, label in data.create_tuple_iterator(num_epochs=1, output_numpy=False):
            begin = time.monotonic()
            loss = train(image, label).asnumpy()
            print(f"step {next(steps)} loss {loss:.3f} {1e3 * (time.monotonic() - begin):.1f} ms", flush=True)


if __name__ == "__main__":
    main()
