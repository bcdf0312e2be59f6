# SPDX-License-Identifier: Apache-2.0
"""Trains a small network with TensorFlow on the CPU, on JPEG images that tf.data decodes and resizes."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf

from steps import Steps

BATCH = 16
IMAGES = 16
SIDE = 64  # of what the network is given, in pixels


def encoded_images():
    noise = tf.random.uniform([IMAGES, 8, 8, 3], 0, 255)
    images = tf.cast(tf.image.resize(noise, [256, 256]), tf.uint8)
    return tf.stack([tf.io.encode_jpeg(image) for image in images])


def main():
    steps = Steps()
    files = encoded_images()

    def image_of(index):
        image = tf.image.resize(tf.io.decode_jpeg(files[index % IMAGES], channels=3), [SIDE, SIDE])
        return tf.image.random_flip_left_right(image / 255.0), index % 10

    data = tf.data.Dataset.range(1 << 40).map(image_of, num_parallel_calls=2).batch(BATCH).prefetch(2)
    kernel = tf.Variable(tf.random.normal([3, 3, 3, 16]) * 0.1)
    weights = tf.Variable(tf.random.normal([SIDE * SIDE * 16, 10]) * 0.01)

    @tf.function
    def train(image, label):
        with tf.GradientTape() as tape:
            features = tf.nn.relu(tf.nn.conv2d(image, kernel, 1, "SAME"))
            logits = tf.reshape(features, [-1, SIDE * SIDE * 16]) @ weights
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(label, logits))
        for variable, gradient in zip((kernel, weights), tape.gradient(loss, (kernel, weights))):
            variable.assign_sub(0.001 * gradient)
        return loss

    if steps.options.profiler:
        tf.profiler.experimental.start(steps.options.profiler)
    for image, label in data:
        train(image, label)
        if not steps.ended():
            break
    if steps.options.profiler:
        tf.profiler.experimental.stop()
    steps.leave()


if __name__ == "__main__":
    main()
