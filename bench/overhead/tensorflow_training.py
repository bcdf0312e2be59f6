# SPDX-License-Identifier: Apache-2.0
"""Shared by TensorFlow's jobs: trains a small network on the CPU until the job is stopped."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf


def trainer_of(side):
    """Returns a function for one step of training on square images of side pixels."""
    kernel = tf.Variable(tf.random.normal([3, 3, 3, 16]) * 0.1)
    weights = tf.Variable(tf.random.normal([side * side * 16, 10]) * 0.01)

    @tf.function
    def train(image, label):
        with tf.GradientTape() as tape:
            features = tf.nn.relu(tf.nn.conv2d(image, kernel, 1, "SAME"))
            logits = tf.reshape(features, [-1, side * side * 16]) @ weights
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(label, logits))
        for variable, gradient in zip((kernel, weights), tape.gradient(loss, (kernel, weights))):
            variable.assign_sub(0.001 * gradient)
        return loss

    return train


def train_on(data, side, steps):
    train = trainer_of(side)
    if steps.options.profiler:
        tf.profiler.experimental.start(steps.options.profiler)
    for image, label in data:
        train(image, label)
        if not steps.ended():
            break
    if steps.options.profiler:
        tf.profiler.experimental.stop()
    steps.leave()
