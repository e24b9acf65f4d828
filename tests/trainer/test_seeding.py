"""The random numbers of a step do not depend on what was drawn before it."""

from __future__ import annotations

import pytest
import torch

from trainer.runtime.seeding import seed_step


def drawn(seed: int, step: int, part: int) -> list[float]:
    seed_step(seed, step, part)
    numbers: list[float] = torch.rand(4).tolist()
    return numbers


def test_a_step_draws_the_same_numbers_again_and_those_of_no_other_step_part_or_seed() -> None:
    places = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 10**6, 0)]
    first = [drawn(*place) for place in places]
    assert [drawn(*place) for place in reversed(places)] == first[::-1]
    assert len({str(numbers) for numbers in first}) == len(places)


def test_the_generator_of_the_gpu_in_use_is_seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    seeded: list[int] = []
    monkeypatch.setattr(torch.cuda, "manual_seed", seeded.append)
    seed_step(0, 1, 2)
    assert seeded == []

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    seed_step(0, 1, 2)
    assert seeded == [torch.initial_seed()]
