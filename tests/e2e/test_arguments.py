"""What a user writes for the program arrives there as written: nothing on the way splits, expands or escapes it."""

from __future__ import annotations

import json

from tests.jobs.run import Run

WORDS = [
    "two words", "it's", '"quoted"', "$HOME", "$(HOSTNAME)", "$$", "a\\nb", "two\nlines", "{{ .Values.nodes }}", "",
    "-x", "*", "a;b", "é 日本",
]  # fmt: skip
SHOW = "import json, os, sys; print('given', json.dumps([sys.argv[1:], os.environ['WRITTEN']]))"


def test_arguments_and_variables_reach_the_program_as_they_were_written(digits: Run) -> None:
    run = Run(digits.cluster, digits.engine, digits.namespace, "words")
    run.install(
        settings={
            # Python alone stands for torchrun: it shows what torchrun would hand on.
            "torchrun.command": ["python3", "-c", SHOW],
            "train.args": WORDS,
            "env.WRITTEN": "\n".join(WORDS),
            "checkpoints.enabled": False,
        }
    )
    outcome = run.follow()
    run.require_success(outcome)
    given = [json.loads(line.removeprefix("given ")) for line in outcome.log if line.startswith("given ")]
    # The job ends with its Master; whether the Worker has shown its words by then is a matter of luck.
    assert given
    assert all(arguments[-len(WORDS) :] == WORDS for arguments, _ in given)
    assert {variable for _, variable in given} == {"\n".join(WORDS)}
    run.uninstall()
