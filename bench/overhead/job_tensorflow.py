# SPDX-License-Identifier: Apache-2.0
"""Trains a small network with TensorFlow on the CPU, on small records that tf.data makes."""
from steps import Steps
from tensorflow_training import tf, train_on

BATCH = 32
SIDE = 32  # of an image, in pixels


def image_of(index):
    return tf.random.normal([SIDE, SIDE, 3]) * tf.cast(index, tf.float32) * 1e-6, index % 10


def main():
    steps = Steps()
    data = tf.data.Dataset.range(1 << 40).map(image_of, num_parallel_calls=2).batch(BATCH).prefetch(2)
    train_on(data, SIDE, steps)


if __name__ == "__main__":
    main()
