"""Arguments, variables and keys of Secrets reach the program unchanged: nothing splits, expands or escapes them."""

from __future__ import annotations

import json

from tests.harness.cluster import api
from tests.harness.jobs.run import Run

WORDS = [
    "two words", "it's", '"quoted"', "$HOME", "$(HOSTNAME)", "$$", "a\\nb", "two\nlines", "{{ .Values.nodes }}", "",
    "-x", "*", "a;b", "é 日本",
]  # fmt: skip
SECRET = "\n".join(WORDS)
READ = "import json, os; print('given', json.dumps([os.environ['TOKEN'], os.environ['RENAMED']]))"
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


def test_a_key_of_a_secret_reaches_the_program_as_a_variable(digits: Run) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "hub", "namespace": digits.namespace},
        "stringData": {"token": SECRET, "unused": "not asked for"},
    }
    api.apply(digits.cluster.kubeconfig, secret)
    run = Run(digits.cluster, digits.engine, digits.namespace, "secret")
    run.install(
        settings={
            "nodes": 1,
            "torchrun.command": ["python3", "-c", READ],
            "envSecrets.TOKEN": {"secret": "hub", "key": "token"},
            "envSecrets.RENAMED": {"secret": "hub", "key": "token"},
            "checkpoints.enabled": False,
        }
    )
    outcome = run.follow()
    run.require_success(outcome)
    given = [json.loads(line.removeprefix("given ")) for line in outcome.log if line.startswith("given ")]
    assert given == [[SECRET, SECRET]]
    run.uninstall()
    api.kubectl(digits.cluster.kubeconfig, "-n", digits.namespace, "delete", "secret", "hub")
