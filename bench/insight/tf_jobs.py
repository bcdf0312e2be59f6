# SPDX-License-Identifier: Apache-2.0
"""tf_jobs.py LIBPLANT KIND faulty|healthy TASK_US PERCENT SECONDS: faults in pipelines of tf.data."""
import os
import threading
import time

import planted
from planted import ASLEEP, LOADER, LOCKED, burn

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
told = set()


def decode(job, kind, work, share):
    """Runs in any thread of a pool."""
    thread = threading.get_native_id()
    if thread not in told:
        told.add(thread)
        planted.tell_root()
    job.spell(kind, work, share * job.item)


def feed(job, data):
    options = __import__("tensorflow").data.Options()
    options.experimental_optimization.map_and_batch_fusion = False
    batches = iter(data.batch(1).prefetch(2).with_options(options))
    next(batches)
    planted.wait_for_go()
    job.feed(lambda: next(batches))


def mapped(work, kind, parallel, causes):
    def run(job):
        import tensorflow as tf

        def map_row(row):
            decode(job, kind, work, max(1, parallel))
            return row

        job.open()
        rows = tf.data.Dataset.range(job.rounds + 64)
        feed(job, rows.map(lambda row: tf.numpy_function(map_row, [row], tf.int64), num_parallel_calls=parallel or None))
        print(f"causes={causes}\n{LOADER}where={'decode|burn|spell|map_row' if kind == LOCKED else ''}\n"
              f"stage={'' if kind == LOCKED else 'Map(V2)?$'}")

    return run


def tf_source(job):
    """A slow generator before a fast map."""
    import tensorflow as tf

    def rows():
        for row in range(job.rounds + 64):
            decode(job, ASLEEP, time.sleep, 1)
            yield row

    job.open()
    data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((), tf.int64))
    feed(job, data.map(lambda row: row + 1, num_parallel_calls=2))
    print("causes=sleep\nstage=Generator$\n" + LOADER)


planted.run({
    "tf_busy": mapped(burn, LOCKED, 0, "user_code"),
    "tf_asleep": mapped(time.sleep, ASLEEP, 0, "sleep"),
    "tf_two": mapped(time.sleep, ASLEEP, 2, "sleep"),
    "tf_source": tf_source,
})
