"""The sampler yields every sample exactly once, for any world size and changes of it."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trainer.data.digits import load_digits
from trainer.data.sampler import GlobalSampler, Step

WORLDS = st.integers(1, 9)
BATCHES = st.integers(1, 64)
NUM_SAMPLES = st.integers(1, 300)
SEEDS = st.integers(0, 2**63 - 1)
EPOCHS = st.integers(0, 10_000)


def deal(num_samples: int, batch_size: int, world_size: int, seed: int, position: int) -> list[list[Step]]:
    """Returns the steps of each rank from `position` to the end of the epoch."""
    return [
        list(
            GlobalSampler(
                num_samples=num_samples, batch_size=batch_size, seed=seed, rank=rank, world_size=world_size
            ).rest_of_epoch(position)
        )
        for rank in range(world_size)
    ]


def samples(ranks: list[list[Step]]) -> list[int]:
    """Returns all samples of these steps, sorted."""
    return sorted(int(index) for steps in ranks for step in steps for index in step.indices)


@given(NUM_SAMPLES, BATCHES, WORLDS, SEEDS, EPOCHS)
def test_every_sample_is_used_once_per_epoch(
    num_samples: int, batch_size: int, world_size: int, seed: int, epoch: int
) -> None:
    ranks = deal(num_samples, batch_size, world_size, seed, epoch * num_samples)
    assert samples(ranks) == list(range(num_samples))
    assert {steps[-1].position for steps in ranks} == {(epoch + 1) * num_samples}


@given(NUM_SAMPLES, BATCHES, WORLDS, SEEDS, EPOCHS)
def test_ranks_take_the_same_steps_and_equal_parts_of_each(
    num_samples: int, batch_size: int, world_size: int, seed: int, epoch: int
) -> None:
    ranks = deal(num_samples, batch_size, world_size, seed, epoch * num_samples)
    for steps in zip(*ranks, strict=True):
        sizes = [len(step.indices) for step in steps]
        assert max(sizes) - min(sizes) <= 1
        assert {(step.global_size, step.max_local_size) for step in steps} == {(sum(sizes), max(sizes))}
    for before, after in pairwise(ranks[0]):
        assert after.position == before.position + after.global_size


@given(NUM_SAMPLES, BATCHES, st.lists(WORLDS, min_size=2, max_size=3), SEEDS, EPOCHS)
def test_each_step_has_the_same_samples_with_any_world_size(
    num_samples: int, batch_size: int, worlds: list[int], seed: int, epoch: int
) -> None:
    def steps(world_size: int) -> list[list[int]]:
        ranks = deal(num_samples, batch_size, world_size, seed, epoch * num_samples)
        return [sorted(int(i) for step in steps for i in step.indices) for steps in zip(*ranks, strict=True)]

    assert all(steps(world_size) == steps(worlds[0]) for world_size in worlds)


@given(
    NUM_SAMPLES, SEEDS, EPOCHS, st.lists(st.tuples(WORLDS, BATCHES, st.integers(0, 5)), min_size=1, max_size=5), WORLDS
)
def test_no_sample_is_repeated_or_skipped_when_world_size_and_batch_size_change(
    num_samples: int, seed: int, epoch: int, stints: list[tuple[int, int, int]], last_world: int
) -> None:
    end = (epoch + 1) * num_samples
    position, seen = epoch * num_samples, list[int]()
    for world_size, batch_size, steps in stints:
        if position < end:
            taken = [rank[:steps] for rank in deal(num_samples, batch_size, world_size, seed, position)]
            seen += samples(taken)
            position = taken[0][-1].position if taken[0] else position
    if position < end:
        seen += samples(deal(num_samples, 8, last_world, seed, position))
    assert sorted(seen) == list(range(num_samples))


@given(NUM_SAMPLES, SEEDS, EPOCHS)
def test_the_order_is_the_permutation_of_earlier_versions(num_samples: int, seed: int, epoch: int) -> None:
    (steps,) = deal(num_samples, num_samples, 1, seed, epoch * num_samples)
    assert steps[0].indices.tolist() == np.random.default_rng((seed, epoch + 1)).permutation(num_samples).tolist()


def test_the_order_takes_four_bytes_per_sample() -> None:
    steps = GlobalSampler(num_samples=1_000_000, batch_size=8, seed=0, rank=0, world_size=1).rest_of_epoch(0)
    tracemalloc.start()
    next(steps)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


def test_the_order_depends_on_epoch_and_seed_only() -> None:
    def order(seed: int, epoch: int) -> list[int]:
        (steps,) = deal(100, 100, 1, seed, epoch * 100)
        return [int(index) for index in steps[0].indices]

    assert order(0, 1) == order(0, 1)
    assert order(0, 1) != order(0, 2)
    assert order(0, 1) != order(1, 1)


def test_training_and_test_samples_are_disjoint_and_all_of_the_digits() -> None:
    def images(seed: int) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.float32]], tuple[int, int]]:
        data = load_digits(seed)
        assert data.test is not None
        parts = [part.take(np.arange(len(part))).inputs.numpy() for part in (data.training, data.test)]
        return np.concatenate(parts), (len(data.training), len(data.test))

    (rows, sizes), (others, _) = images(0), images(1)
    assert sizes == (1438, 359)
    assert sorted(map(bytes, rows)) == sorted(map(bytes, others))
