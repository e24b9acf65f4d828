"""`ray start` refuses its options or ends at once, so the node never joins the cluster.

An unknown option, a word in place of a number, resources that are no JSON and a port that two parts of the node would
have end the command with an error. The workers have the ports from 10002 to 19999 by default, and to 10999 before
Ray 1.9. A node other than the head needs `--address`, or the variable `RAY_ADDRESS`, and takes no `--port`. Without
`--block`, the command starts Ray in the background and returns: as the only command of a container it ends the
container, and Ray with it.

Unknown options are reported only if they resemble one of `ray start`, or if Ray 1.0 removed them. The options belong
behind `start`: `ray --head` ends with "No such option". Values with a variable are not known. KubeRay
adds its own `ray start` to a container, with the address and `--block`, so there the rule checks the options alone.

Correct the option. Add `--block` to the command of a container.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from trainyard.analysis.jobs.ray import image_release
from trainyard.analysis.jobs.ray_ports import PORTS, taken_twice
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.ray_options import INTEGERS, MISNAMED, OF_HEAD, OTHERS, REMOVED
from trainyard.model.run import Command, Container

KNOWN = (*INTEGERS, *OTHERS)
# Options that `ray` itself has too.
_OF_RAY = ("--log-style", "--log-color", "--verbose")
# The size of an object store has ten digits and more.
_WHOLE = re.compile(r"-?[0-9]+")


@rule(
    code="RY026",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/ray_options.py: the options of ray start",
        "ray-project/ray python/ray/scripts/scripts.py: start, `is a required flag unless starting a head node`",
        "docs.ray.io/en/latest/cluster/cli.html: --block",
        "analysis/jobs/ray_ports.py: the ports of a node",
    ),
    needs=("ray",),
)
def ray_start_refused(command: Command, context: Context) -> Iterator[Problem]:
    """Report options that end `ray start`."""
    container = context.container
    if command.program != "ray" or container is None:
        return
    yield from _without_start(command)
    if command.words[1:2] != ("start",):
        return
    yield from _of_words(command)
    yield from _of_ports(command, image_release(container.image or ""))
    if context.run is not None and context.run.kind.startswith("Ray"):
        return
    is_open = any(word.startswith(("$", '"$')) or "{{" in word for word in command.words)
    if is_open or command.has("--help"):
        return
    if not command.has("--head"):
        for name in OF_HEAD:
            if (told := command.option_at(name)) is not None:
                yield Problem(told[1], f"`ray start` takes {name} with --head alone: it stops", f"remove {name}")
        if not command.has("--address", "--redis-address", "--autoscaling-config") and not _may_be_told(container):
            message = "`ray start` needs --address or RAY_ADDRESS on a node that is not the head: it stops"
            yield Problem(command.word_at[1], message, "add `--address=<head>:6379`, or `--head`")
    if not command.has("--block") and (*container.command, *container.args) == command.words:
        message = "`ray start` returns at once without --block, which ends the container and Ray with it"
        yield Problem(command.word_at[1], message, "add `--block`")


def _without_start(command: Command) -> Iterator[Problem]:
    """Yields the first option of `ray start` behind `ray` itself."""
    name = command.words[1].partition("=")[0] if len(command.words) > 1 else ""
    if name in KNOWN and name not in _OF_RAY:
        message = f"`ray` itself has no option {name}: it ends with `No such option`"
        yield Problem(command.word_at[1], message, "write `ray start` before the options")


def _of_words(command: Command) -> Iterator[Problem]:
    for index, word in enumerate(command.words[2:], 2):
        name, equals, value = word.partition("=")
        name = name.replace("_", "-")
        if not name.startswith("--") or "$" in name:
            continue
        right = None if name in KNOWN else MISNAMED.get(name) or closest_match(name, KNOWN, 0.86)
        if right is not None or name in REMOVED:
            help_ = f"write `{right}`" if right is not None else REMOVED[name]
            yield Problem(command.word_at[index], f"`ray start` has no option {name}: it stops", help_)
        if not equals and index + 1 < len(command.words):
            value, index = command.words[index + 1], index + 1
        if not value or "$" in value or "{{" in value:
            continue
        if name in INTEGERS and not _WHOLE.fullmatch(value):
            message = f"{name} of `ray start` is `{value}`, and it takes a whole number: it stops"
            yield Problem(command.word_at[index], message, "write a number, or leave the option out")
        if name == "--resources" and not _is_object(value):
            message = f"--resources of `ray start` is `{value}`, which is not a JSON object: it stops"
            yield Problem(command.word_at[index], message, """write it like `--resources='{"accelerator": 1}'`""")


def _of_ports(command: Command, release: tuple[int, ...] | None) -> Iterator[Problem]:
    found = {name: command.option_at(f"--{name}") for name in PORTS}
    for name, part in taken_twice({name: told[0] for name, told in found.items() if told is not None}, release):
        told = found[name]
        if told is not None:
            yield Problem(told[1], f"--{name} {part}: `ray start` refuses it", "write a port of its own")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _may_be_told(container: Container) -> bool:
    return container.setting("RAY_ADDRESS") is not None or "envFrom" in container.tree
