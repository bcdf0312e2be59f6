# SPDX-License-Identifier: Apache-2.0
"""Runs a PyTorch job once it is told to, when its libraries are there.

usage: torch_job.py GO PROGRAM [ARGUMENT...]

Prints "ready" and waits for the file GO. With PIN=1 in the environment the job runs as on a machine
with an accelerator, as far as its data loader is concerned: that starts its pin-memory thread, which
takes what workers made, copies it (to memory like any other: there is no device to pin it for) and
hands it on.
"""
import os
import runpy
import sys
import time

import torch
from torch.utils.data._utils import pin_memory


def copy_of(data, device=None):
    if isinstance(data, torch.Tensor):
        return data.clone()
    return [copy_of(part, device) for part in data] if isinstance(data, (list, tuple)) else data


if os.environ.get("PIN") == "1":
    torch.accelerator.is_available = lambda: True
    torch.accelerator.current_accelerator = lambda *unused: torch.device("cpu")
    torch.accelerator.current_device_index = lambda: 0
    torch.accelerator.set_device_index = lambda index: None
    pin_memory.pin_memory = copy_of
print("ready", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
