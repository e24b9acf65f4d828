"""The sampler deals out every sample exactly once, to any number of ranks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trainer.data.digits import load_digits
from trainer.data.sampler import GlobalSampler, Step

WORLDS = st.integers(1, 9)
# Samples per rank and step, so that the global batch is a multiple of the world size.
SHARES = st.integers(1, 8)
NUM_SAMPLES = st.integers(0, 300)
SEEDS = st.integers(0, 2**63 - 1)
EPOCHS = st.integers(1, 10_000)


def deal(num_samples: int, share: int, world_size: int, seed: int, epoch: int) -> list[list[Step]]:
    """The steps of each rank."""
    return [
        list(
            GlobalSampler(
                num_samples=num_samples, batch_size=share * world_size, seed=seed, rank=rank, world_size=world_size
            ).epoch(epoch)
        )
        for rank in range(world_size)
    ]


@given(NUM_SAMPLES, SHARES, WORLDS, SEEDS, EPOCHS)
def test_every_sample_is_dealt_once_per_epoch(
    num_samples: int, share: int, world_size: int, seed: int, epoch: int
) -> None:
    ranks = deal(num_samples, share, world_size, seed, epoch)
    assert sorted(int(index) for steps in ranks for step in steps for index in step.indices) == list(range(num_samples))


@given(NUM_SAMPLES, SHARES, WORLDS, SEEDS, EPOCHS)
def test_ranks_take_the_same_steps_and_equal_parts_of_each(
    num_samples: int, share: int, world_size: int, seed: int, epoch: int
) -> None:
    ranks = deal(num_samples, share, world_size, seed, epoch)
    for steps in zip(*ranks, strict=True):
        sizes = [len(step.indices) for step in steps]
        assert max(sizes) - min(sizes) <= 1
        assert {step.global_size for step in steps} == {sum(sizes)}
    assert all(len(step.indices) == share for steps in ranks for step in steps[:-1])


@given(NUM_SAMPLES, st.sampled_from([(1, 2), (2, 4), (4, 1)]), SEEDS, EPOCHS)
def test_each_step_is_of_the_same_samples_on_any_number_of_ranks(
    num_samples: int, worlds: tuple[int, int], seed: int, epoch: int
) -> None:
    def steps(world_size: int) -> list[list[int]]:
        ranks = deal(num_samples, 8 // world_size, world_size, seed, epoch)
        return [sorted(int(i) for step in steps for i in step.indices) for steps in zip(*ranks, strict=True)]

    assert steps(worlds[0]) == steps(worlds[1])


def test_the_order_is_another_in_each_epoch_and_with_each_seed_and_else_the_same() -> None:
    def order(seed: int, epoch: int) -> list[int]:
        (steps,) = deal(100, 100, 1, seed, epoch)
        return [int(index) for index in steps[0].indices]

    assert order(0, 1) == order(0, 1)
    assert order(0, 1) != order(0, 2)
    assert order(0, 1) != order(1, 1)


def test_training_and_test_samples_are_disjoint_and_all_of_the_digits() -> None:
    training, test = load_digits(seed=0)
    assert (len(training), len(test)) == (1438, 359)
    rows = np.concatenate([training.inputs.numpy(), test.inputs.numpy()])
    whole = np.concatenate([part.inputs.numpy() for part in load_digits(seed=1)])
    assert sorted(map(bytes, rows)) == sorted(map(bytes, whole))
