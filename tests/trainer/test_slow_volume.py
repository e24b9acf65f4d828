"""Training goes on while a volume hangs, and saves as soon as it responds."""

from __future__ import annotations

from pathlib import Path

from tests.harness.trainer.launch import start
from tools.faults import timeline
from trainer.checkpoint.catalog import list_checkpoints

SAMPLES, BATCH_SIZE = 1438, 32


def test_training_goes_on_while_a_save_hangs_and_the_next_save_follows_its_end(tmp_path: Path) -> None:
    events, checkpoints = tmp_path / "events.jsonl", tmp_path / "checkpoints"
    run = start(
        checkpoints,
        "--epochs=1000",
        f"--batch-size={BATCH_SIZE}",
        "--checkpoint-steps=20",
        f"--events-file={events}",
        processes=2,
        fault="volume-hangs-in-first-save",
        environment={"RECORD": str(tmp_path)},
    )

    def last_step() -> int:
        steps = timeline.steps(timeline.read(events)) if events.exists() else []
        return steps[-1].step if steps else 0

    def newest() -> int:
        return max((step for step, _ in list_checkpoints(checkpoints)), default=0)

    # Past the end of an epoch, which saves too.
    reached = 40 + -(-SAMPLES // BATCH_SIZE)
    try:
        run.wait_for(lambda: last_step() > reached)
        assert newest() == 0
        (tmp_path / "volume").touch()
        run.wait_for(lambda: newest() > reached)
    finally:
        run.process.terminate()
    lines = run.finish().lines
    assert sum(line.startswith("checkpoint delayed: ") for line in lines) == 1
    assert "checkpoint delayed: step=40 is not saved, because the save before is still running" in lines
