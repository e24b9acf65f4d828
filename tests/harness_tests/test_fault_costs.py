"""The cost of a fault, computed from the events of a run."""

from __future__ import annotations

from pathlib import Path

from tools.faults import timeline
from tools.faults.growth import growth
from tools.faults.timeline import Cost, Event


def steps(first: int, last: int, begin: float) -> list[Event]:
    """Return steps a quarter of a second apart, the first at `begin`."""
    return [Event("step", begin + 0.25 * place, number) for place, number in enumerate(range(first, last + 1))]


def test_a_restarted_run_loses_the_steps_since_its_checkpoint() -> None:
    events = [*steps(1, 17, 100), Event("started", 110, 10), *steps(11, 20, 111)]
    assert timeline.cost(events, injected=104, until=114) == Cost(
        seconds=7, paused=7, steps=7, restarts=1, noticed=True, recovered=7, rate=0
    )


def test_steps_lost_twice_and_both_pauses_count() -> None:
    events = [*steps(1, 17, 100), Event("started", 110, 10), *steps(11, 13, 111), Event("started", 130, 10)]
    assert timeline.cost([*events, *steps(11, 20, 131)], injected=104, until=134) == Cost(
        7, 7 + 19.5, 7 + 3, 2, noticed=True, recovered=27, rate=0
    )


def test_a_run_that_goes_on_with_one_pod_counts_the_steps_until_both_train() -> None:
    alone = [*steps(1, 17, 100), Event("started", 106, 17, world_size=1), *steps(18, 27, 107)]
    events = [*alone, Event("started", 111, 27, world_size=2), *steps(28, 30, 114)]
    found = timeline.cost(events, injected=104, until=115)
    assert (found.recovered, found.rate) == (10, 1.0)


def test_a_restart_without_any_step_loses_no_further_steps() -> None:
    events = [*steps(1, 17, 100), Event("started", 110, 10), Event("started", 120, 10), *steps(11, 20, 121)]
    assert timeline.cost(events, injected=104, until=124) == Cost(17, 17, 7, 2, noticed=True, recovered=17, rate=0)


def test_a_stalled_run_loses_time_but_no_steps() -> None:
    events = [*steps(1, 17, 100), *steps(18, 30, 115)]
    assert timeline.cost(events, injected=104, until=119) == Cost(11, 11, 0, 0, noticed=True, recovered=11, rate=0)


def test_a_run_that_continues_was_not_interrupted() -> None:
    assert timeline.cost(steps(1, 30, 100), injected=104, until=108) == Cost(0.25, 0, 0, 0, noticed=False)


def test_an_evaluation_at_the_end_of_an_epoch_is_not_an_outage() -> None:
    events = [*steps(1, 17, 100), Event("epoch", 112, 17), *steps(18, 30, 112.25)]
    assert timeline.cost(events, injected=103, until=116) == Cost(0.25, 0, 0, 0, noticed=False)


def test_a_run_without_further_steps_has_no_recovery_time() -> None:
    assert timeline.cost(steps(1, 17, 100), injected=105, until=200) == Cost(None, None, 0, 0, noticed=True)
    started = [*steps(1, 17, 100), Event("started", 110, 10)]
    assert timeline.cost(started, injected=105, until=200) == Cost(None, None, 7, 1, noticed=True)


def test_the_recovery_time_is_unknown_before_the_first_step_after_the_fault() -> None:
    assert timeline.cost(steps(1, 17, 100), injected=104, until=104.1) == Cost(None, None, 0, 0, noticed=False)


def test_a_run_that_ends_soon_after_the_fault_did_not_recover() -> None:
    assert timeline.cost(steps(1, 17, 100), injected=103, until=200) == Cost(None, None, 0, 0, noticed=True)


def test_an_incomplete_line_is_skipped_until_it_is_complete(tmp_path: Path) -> None:
    file = tmp_path / "steps.jsonl"
    assert timeline.read(file) == []
    file.write_text('{"time": 1.5, "event": "step", "step": 1, "loss": 2.0}\n{"time": 1.7, "ev')
    assert timeline.read(file) == [Event("step", 1.5, 1)]


def test_the_pause_of_a_growth_ends_with_the_first_step_of_the_larger_world() -> None:
    alone = [Event("started", 90, 0, world_size=1), *steps(1, 17, 100)]
    grown = [*alone, Event("started", 110, 17, world_size=2)]
    assert growth(alone) is None
    assert growth(grown) is None
    assert growth([*grown, *steps(18, 20, 111)]) == 7
