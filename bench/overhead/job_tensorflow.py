# SPDX-License-Identifier: Apache-2.0
"""Trains a small network with TensorFlow on the CPU, images by tf.data."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf

from steps import Steps

BATCH = 32


def image_of(index):
    return tf.random.normal([32, 32, 3]) * tf.cast(index, tf.float32) * 1e-6, index % 10


def main():
    steps = Steps()
    data = tf.data.Dataset.range(1 << 40).map(image_of, num_parallel_calls=2).batch(BATCH).prefetch(2)
    kernel = tf.Variable(tf.random.normal([3, 3, 3, 16]) * 0.1)
    weights = tf.Variable(tf.random.normal([32 * 32 * 16, 10]) * 0.01)

    @tf.function
    def train(image, label):
        with tf.GradientTape() as tape:
            features = tf.nn.relu(tf.nn.conv2d(image, kernel, 1, "SAME"))
            logits = tf.reshape(features, [-1, 32 * 32 * 16]) @ weights
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
