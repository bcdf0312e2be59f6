# SPDX-License-Identifier: Apache-2.0
"""torch_jobs.py LIBPLANT KIND faulty|healthy TASK_US PERCENT SECONDS: faults in loaders of PyTorch."""
import os
import socket
import time

import planted
from planted import ASLEEP, CPU, LOADER, LOCKED, burn

BATCH = 2
EPOCH = 6  # batches
EPOCHS = 20


def decode(job, kind, work, share):
    job.spell(kind, work, share * job.item / BATCH)


def loader(job, prepare, workers, collate=None, tell=planted.tell_root):
    """Batches of two rows, each made by prepare(); the workers have started already."""
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Rows(Dataset):
        def __len__(self):
            return BATCH * (job.rounds + 64)

        def __getitem__(self, number):
            prepare(number)
            return torch.full((256,), float(number))

    torch.set_num_threads(1)
    batches = iter(DataLoader(Rows(), BATCH, num_workers=workers, collate_fn=collate,
                              worker_init_fn=lambda number: tell()))
    next(batches)
    return batches


def feed(job, batches):
    job.feed(lambda: next(batches))


def made_by(work, kind, workers, causes):
    def run(job):
        job.open()
        batches = loader(job, lambda number: decode(job, kind, work, workers), workers)
        planted.wait_for_go()
        feed(job, batches)
        print(f"causes={causes}\n{LOADER}where={'decode|burn|spell' if kind == LOCKED else ''}")

    return run


def torch_inline(job):
    """Without workers: the main thread makes its batches itself."""
    job.open()
    planted.tell_root()
    batches = loader(job, lambda number: decode(job, CPU, burn, 1), 0)
    planted.wait_for_go()
    feed(job, batches)
    print(f"causes=user_code\nhops=1\n{LOADER}where=decode|burn|spell")


def torch_collate(job):
    """Fast rows; the function that makes a batch of them is slow."""
    import torch

    def collate(rows):
        job.spell(LOCKED, burn, job.item)
        return torch.stack(rows)

    job.open()
    batches = loader(job, lambda number: None, 1, collate)
    planted.wait_for_go()
    feed(job, batches)
    print(f"causes=user_code\n{LOADER}where=collate|burn|spell")


def torch_source(job):
    """The worker reads from another process, which is slow."""
    own, other = socket.socketpair()

    def ask(number):
        own.send(b"x")
        own.recv(1)

    job.open()
    child = os.fork()
    if not child:
        own.close()
        planted.tell_root()
        while other.recv(1):
            job.spell(ASLEEP, time.sleep, job.item / BATCH)
            other.send(b"x")
        os._exit(0)
    batches = loader(job, ask, 1, tell=lambda: None)
    planted.wait_for_go()
    feed(job, batches)
    print("causes=sleep\n" + LOADER)
    os.kill(child, 9)


def torch_uneven(job):
    """Two workers that take turns; one of them is slow."""
    import torch
    from torch.utils.data import DataLoader, IterableDataset, get_worker_info

    class Rows(IterableDataset):
        def __iter__(self):
            slow = get_worker_info().id == 0
            for number in range(BATCH * (job.rounds + 64)):
                if slow:
                    decode(job, ASLEEP, time.sleep, 2)
                yield torch.full((256,), float(number))

    torch.set_num_threads(1)
    job.open()
    batches = iter(DataLoader(Rows(), BATCH, num_workers=2,
                              worker_init_fn=lambda number: number or planted.tell_root()))
    next(batches)
    planted.wait_for_go()
    feed(job, batches)
    print("causes=sleep\nremedy=equal part\nwhere=")


def train(job, batches, task, rounds):
    """Without an accelerator: the main thread trains on a CPU. Returns the time that it takes."""
    import torch

    network = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-9)

    def step(batch):
        end = time.thread_time() + task
        while time.thread_time() < end:
            optimizer.zero_grad()
            network(batch).sum().backward()
            optimizer.step()

    planted.wait_for_go()
    begin = time.monotonic_ns()
    for _ in range(rounds):
        start = time.monotonic_ns()
        batch = next(batches)
        job.lib.plant_fed(start, time.monotonic_ns())
        step(batch)
    return time.monotonic_ns() - begin


def torch_trainer(job):
    job.lib.plant_share()
    batches = loader(job, lambda number: decode(job, ASLEEP, time.sleep, 1), 1)
    print(f"causes=sleep\n{LOADER}loop_ns={train(job, batches, job.task, job.rounds)}")


def torch_reads(job):
    """Without workers the main thread sleeps for each row, as for a remote read. The twin's rows are there."""
    longer = 1 if job.faulty else 8  # its fetches take less of its time
    job.lib.plant_share()
    planted.tell_root()
    batches = loader(job, lambda number: decode(job, ASLEEP, time.sleep, 1) if job.faulty else None, 0)
    loop_ns = train(job, batches, longer * job.task, job.rounds // longer)
    print(f"causes=sleep\nhops=1\nremedy=num_workers\nwhere=decode|spell\nloop_ns={loop_ns}")


def anew(workers):
    """Epochs of a few batches: their workers end with each epoch, and others are started. The twin has long epochs."""
    def run(job):
        import torch
        from torch.utils.data import DataLoader, Dataset

        epochs = EPOCHS if job.faulty else 1
        length = EPOCH * EPOCHS // epochs
        task = job.task if job.faulty else 4 * job.task
        ready = torch.multiprocessing.RawArray("Q", workers)  # times of their starts

        class Rows(Dataset):
            def __len__(self):
                return BATCH * length

            def __getitem__(self, number):
                return torch.full((256,), float(number))

        def note_start(number):
            ready[number] = time.monotonic_ns()

        def epoch():
            """Returns the time that others than the batches take: the main thread's until a worker has started."""
            ready[:] = [0] * workers
            start = time.monotonic_ns()
            batches = iter(loader)
            lost = 0
            for number in range(length + 1):
                fetch = time.monotonic_ns()
                batch = next(batches, None)
                end = time.monotonic_ns()
                if number == 0:
                    lost = min([end, *filter(None, ready)]) - start
                if batch is None:
                    return lost + end - fetch
                burn(task)

        torch.set_num_threads(1)
        job.lib.plant_share()
        loader = DataLoader(Rows(), BATCH, num_workers=workers,
                            persistent_workers=not job.faulty, worker_init_fn=note_start)
        if not job.faulty:
            epoch()
        planted.wait_for_go()
        begin = time.monotonic_ns()
        lost = sum(epoch() for _ in range(epochs))
        print(f"causes=restarts\nlost_ns={lost if job.faulty else 0}\nremedy=persistent_workers\n"
              f"work_ns={EPOCH * EPOCHS * task * 1e9:.0f}\nloop_ns={time.monotonic_ns() - begin}")

    return run


planted.run({
    "torch_busy": made_by(burn, LOCKED, 1, "user_code"),
    "torch_asleep": made_by(time.sleep, ASLEEP, 1, "sleep"),
    "torch_two": made_by(time.sleep, ASLEEP, 2, "sleep"),
    "torch_inline": torch_inline,
    "torch_collate": torch_collate,
    "torch_source": torch_source,
    "torch_uneven": torch_uneven,
    "torch_trainer": torch_trainer,
    "torch_reads": torch_reads,
    "torch_anew": anew(1),
    "torch_anew_two": anew(2),
})
