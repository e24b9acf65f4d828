"""The pods of a TFJob train one model with TensorFlow's strategy for several workers, each on its part of a batch."""

from __future__ import annotations

import json

import tensorflow as tf

FEATURES, BATCH, STEPS, RATE = 8, 16, 6, 0.1

# It reads TF_CONFIG, and waits until all workers are there. It must come before anything else of TensorFlow's.
strategy = tf.distribute.MultiWorkerMirroredStrategy()
worker = strategy.cluster_resolver
size = strategy.num_replicas_in_sync
share = BATCH // size

numbers = tf.random.stateless_normal((STEPS, BATCH, FEATURES), seed=(0, 1))
start = tf.random.stateless_normal((FEATURES, 1), seed=(0, 2))
with strategy.scope():
    weights = tf.Variable(start)


def loss_of(values: tf.Variable | tf.Tensor, inputs: tf.Tensor) -> tf.Tensor:
    """The mean squared distance from the sum of each row."""
    return tf.reduce_mean((inputs @ values - tf.reduce_sum(inputs, axis=1, keepdims=True)) ** 2)


@tf.function  # type: ignore[untyped-decorator]
def step(inputs: tf.Tensor) -> tf.Tensor:
    """One step of gradient descent on this worker's rows; returns the mean loss of all workers."""

    def own() -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = loss_of(weights, inputs)
        context = tf.distribute.get_replica_context()
        gradient = context.all_reduce(tf.distribute.ReduceOp.MEAN, tape.gradient(loss, weights))
        weights.assign_sub(RATE * gradient)
        return loss

    return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(own), axis=None)


def train_alone() -> tuple[list[float], tf.Tensor]:
    """The losses and weights of one process that sees the whole of every batch."""
    losses, values = [], start
    for inputs in numbers:
        with tf.GradientTape() as tape:
            tape.watch(values)
            loss = loss_of(values, inputs)
        values -= RATE * tape.gradient(loss, values)
        losses.append(float(loss))
    return losses, values


rows = slice(worker.task_id * share, (worker.task_id + 1) * share)
losses = [float(step(inputs[rows])) for inputs in numbers]
losses_alone, alone = train_alone()
result = {
    "task": f"{worker.task_type}/{worker.task_id}",
    "size": size,
    "losses": losses,
    "losses_alone": losses_alone,
    "weights": [round(float(weight), 5) for weight in tf.reshape(weights, [-1])],
    "distance": float(tf.reduce_max(tf.abs(weights - alone))),
}
print("result", json.dumps(result), flush=True)
