# SPDX-License-Identifier: Apache-2.0
"""Trains a small network with TensorFlow on the CPU, on JPEG images that tf.data decodes and resizes."""
from steps import Steps
from tensorflow_training import tf, train_on

BATCH = 16
FILES = 16
FILE_SIDE = 256  # in pixels
SIDE = 64  # of the network's input


def encoded_images():
    noise = tf.random.uniform([FILES, 8, 8, 3], 0, 255)
    images = tf.cast(tf.image.resize(noise, [FILE_SIDE, FILE_SIDE]), tf.uint8)
    return tf.stack([tf.io.encode_jpeg(image) for image in images])


def main():
    steps = Steps()
    files = encoded_images()

    def image_of(index):
        image = tf.image.resize(tf.io.decode_jpeg(files[index % FILES], channels=3), [SIDE, SIDE])
        return tf.image.random_flip_left_right(image / 255.0), index % 10

    data = tf.data.Dataset.range(1 << 40).map(image_of, num_parallel_calls=2).batch(BATCH).prefetch(2)
    train_on(data, SIDE, steps)


if __name__ == "__main__":
    main()
