"""A command of Ray gets an option that it does not have, so it ends before it does anything.

The names of its options have dashes. `--working_dir` of `serve run` ends with "No such option", although the same field
of a runtime environment is `working_dir`. No node or application starts.

The rule knows `ray start`, `ray job status` and others, and `serve run`, `deploy` and `start`. It reports options with
underscores, and those that resemble one of the command. It does not read what follows `--`. RY041 is about `ray job
submit`.

Write the option with dashes.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.ray_options import COMMANDS
from trainyard.model.run import Command

# Misspelt options of `ray start` are those of RY026.
_START = ("ray", "start")


@rule(
    code="RY044",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/ray_options.py: the options of Ray's commands",
        "ray 2.52.0 scripts/scripts.py, serve/scripts.py, dashboard/modules/job/cli.py: options of click",
        "github.com/ray-project/ray issue 34691",
    ),
    needs=("ray", "serve"),
)
def ray_option_unknown(command: Command) -> Iterator[Problem]:
    """Report options that Ray's commands do not have."""
    if command.program not in ("ray", "serve"):
        return
    words = (command.program, *command.words[1:])
    start = next((start for start in COMMANDS if words[: len(start)] == start), None)
    if start is None:
        return
    known = COMMANDS[start]
    for word, at in zip(words[len(start) :], command.word_at[len(start) :], strict=False):
        if word == "--":
            return
        name = word.partition("=")[0]
        if not name.startswith("--") or name in known or "$" in name or "{{" in name:
            continue
        dashed = name.replace("_", "-")
        right = dashed if dashed in known else None
        if right is None and start != _START:
            right = closest_match(dashed, known, 0.86)
        if right is not None:
            yield Problem(at, f"`{' '.join(start)}` has no option {name}: it ends at once", f"write `{right}`")
