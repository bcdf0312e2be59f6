# SPDX-License-Identifier: Apache-2.0
"""Trains the demo's network with MindSpore on the CPU, images by the demo's MindData pipeline."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
import mindspore as ms
from mindspore import nn

import mindspore_train as demo
from steps import Steps


def main():
    steps = Steps()
    ms.set_device("CPU")
    ms.set_context(mode=ms.GRAPH_MODE)
    profiler = None
    if steps.options.profiler:
        profiler = ms.profiler.profile(activities=[ms.profiler.ProfilerActivity.CPU],
                                       on_trace_ready=ms.profiler.tensorboard_trace_handler(steps.options.profiler))
    net = demo.network()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
    train.set_train()
    data = demo.pipeline()
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
