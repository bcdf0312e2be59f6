# SPDX-License-Identifier: Apache-2.0
"""Trains a small network with PyTorch on the CPU, with images from two worker processes."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from steps import Steps

BATCH = 16


class Images(Dataset):
    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        image = torch.randn(3, 32, 32)
        for _ in range(10):
            image = torch.relu(image * 1.01)
        return image, index % 10


def main():
    steps = Steps()
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                        nn.Flatten(), nn.Linear(16 * 32 * 32, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    loss_of = nn.CrossEntropyLoss()
    profiler = torch.profiler.profile() if steps.options.profiler else None
    if profiler:
        profiler.start()
    for image, label in DataLoader(Images(), batch_size=BATCH, num_workers=2):
        optimizer.zero_grad()
        loss_of(net(image), label).backward()
        optimizer.step()
        if not steps.ended():
            break
    if profiler:
        profiler.stop()
        profiler.export_chrome_trace(steps.options.profiler + "/trace.json")
    steps.leave()


if __name__ == "__main__":
    main()
