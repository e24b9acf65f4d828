"""Arguments and variables reach the program unchanged: nothing in between splits, expands or escapes them."""

from __future__ import annotations

import json

from tests.harness.jobs.run import Run

WORDS = [
    "two words", "it's", '"quoted"', "$HOME", "$(HOSTNAME)", "$$", "a\\nb", "two\nlines", "{{ .Values.nodes }}", "",
    "-x", "*", "a;b", "é 日本",
]  # fmt: skip
SHOW = "import json, os, sys; print('given', json.dumps([sys.argv[1:], os.environ['WRITTEN']]))"


def test_arguments_and_variables_reach_the_program_unchanged(digits: Run) -> None:
    run = Run(digits.cluster, digits.engine, digits.namespace, "words")
    run.install(
        settings={
            # Python takes the place of torchrun and prints the arguments that torchrun would get.
            "torchrun.command": ["python3", "-c", SHOW],
            "train.args": WORDS,
            "env.WRITTEN": "\n".join(WORDS),
            "checkpoints.enabled": False,
        }
    )
    outcome = run.follow()
    run.require_success(outcome)
    given = [json.loads(line.removeprefix("given ")) for line in outcome.log if line.startswith("given ")]
    # The job ends with its Master, and the Worker may not have printed anything by then.
    assert given
    assert all(arguments[-len(WORDS) :] == WORDS for arguments, _ in given)
    assert {variable for _, variable in given} == {"\n".join(WORDS)}
    run.uninstall()
