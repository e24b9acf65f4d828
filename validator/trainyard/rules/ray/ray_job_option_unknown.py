"""`ray job submit` gets an option that it does not have, so it ends before it submits anything.

It reads all words up to `--`, also those behind the name of the script: `ray job submit python train.py --lr 0.1` ends
with "No such option: --lr". Behind `--`, the words belong to the entrypoint.

Write `--` before the entrypoint, or correct the option.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.ray_options import SUBMIT_FLAGS, SUBMIT_VALUED
from trainyard.model.run import Command

_KNOWN = (*SUBMIT_VALUED, *SUBMIT_FLAGS)


@rule(
    code="RY041",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "ray-project/ray 0718d5b0 python/ray/dashboard/modules/job/cli.py: submit; click reads options among arguments",
        "docs.ray.io/en/latest/cluster/running-applications/job-submission/cli.html",
    ),
    needs=("submit",),
)
def ray_job_option_unknown(command: Command) -> Iterator[Problem]:
    """Report options that `ray job submit` does not have."""
    words = command.words
    if command.program != "ray" or words[1:3] != ("job", "submit"):
        return
    end = words.index("--") if "--" in words else len(words)
    entrypoint = 0
    index = 3
    while index < end:
        word = words[index]
        name, equals, _ = word.partition("=")
        if "$" in word or "{{" in word:
            return
        if not word.startswith("--") or " " in name:
            entrypoint = entrypoint or index
        elif name not in _KNOWN:
            yield _problem(command, index, entrypoint)
            return
        index += 2 if name in SUBMIT_VALUED and not equals else 1


def _problem(command: Command, index: int, entrypoint: int) -> Problem:
    name = command.words[index].partition("=")[0]
    message = f"`ray job submit` has no option {name}: it ends with `No such option`"
    near = closest_match(name.replace("_", "-"), _KNOWN, 0.8)
    if entrypoint:
        return Problem(command.word_at[index], message, f"write `--` before `{command.words[entrypoint]}`")
    return Problem(command.word_at[index], message, f"did you mean `{near}`?" if near else "remove it")
