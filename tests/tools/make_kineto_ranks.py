#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_kineto_ranks.py FOLDER RANKS STEPS SLOW MS: writes traces like those of PyTorch's profiler, one for each rank of
a job.

Rank SLOW computes MS longer in each step, in the kernel gemm; all ranks meet in an all-reduce at the end of each step.
Each rank's clock is 3 ms later than that of the rank before.
"""

import json
import os
import sys

folder, ranks, steps, slow, ms = sys.argv[1], *map(int, sys.argv[2:])
os.makedirs(folder, exist_ok=True)
group = str(list(range(ranks)))
for rank in range(ranks):
    events, begin = [], 1000.0
    for step in range(steps):
        computes = [20_000 + 100 * ((step * 3 + other * 7) % 5) + 1000 * ms * (other == slow) for other in range(ranks)]
        end, shift = begin + max(computes) + 2000, 3000 * rank

        def kernel(name, start, until, stream, **more):
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": start + shift, "dur": until - start,
                           "args": {"device": 0, "stream": stream, **more}})

        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 42, "tid": 42, "ts": begin + shift - 5, "dur": end - begin})
        events.append({"ph": "X", "cat": "gpu_user_annotation", "name": f"ProfilerStep#{step}", "pid": 0, "tid": 7, "ts": begin + shift, "dur": end - begin})
        kernel("gemm", begin, begin + computes[rank], 7)
        kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", begin + computes[rank], end, 9,
               **{"Collective name": "allreduce", "Process Group Ranks": group, "In msg nelems": 1024, "dtype": "Float"})
        begin = end + 500
    with open(f"{folder}/rank{rank}.json", "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks}, "deviceProperties": [{"id": 0, "name": "GPU"}],
                   "traceEvents": events, "baseTimeNanoseconds": 1_700_000_000_000_000_000}, file)
