"""A plan as shell commands, to read or to run by hand."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from trainyard.local.plan import Plan


def shell_lines(plan: Plan) -> Iterator[str]:
    """Yields the folders, the files, and a command for each node."""
    folders = dict.fromkeys(folder for node in plan.nodes for folder in node.folders)
    if folders:
        yield shlex.join(["mkdir", "-p", *map(str, folders)])
    for node in plan.nodes:
        for path, text in node.files.items():
            yield f"printf %s {shlex.quote(text)} > {shlex.quote(str(path))}"
    for node in plan.nodes:
        yield f"# {node.name}"
        variables = [f"{name}={value}" for name, value in sorted(node.environment.items())]
        yield f"{shlex.join(['env', *variables, *node.argv])} &"
    yield "wait"
