"""A value has quotes of its own inside those of YAML, so the program gets the quotes as letters.

`value: '"true"'` is a text of six letters, which no program reads as true. No shell stands between an entry of `args`
and the program either: `--model="/models/llama"` names a folder that begins with a quote.

The rule looks at variables whose whole value is one word in quotes, and at options with such a value in containers
that start no shell. It also looks at lists of variables in the values of Helm releases.

Remove the inner quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.releases import releases
from trainyard.document.document import Place, SetValue
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container, Project

_WORD = r"[A-Za-z0-9_./:@,+-]+"
_VALUE = re.compile(rf"""(?P<quote>["'])(?P<word>{_WORD})(?P=quote)\Z""")
_OPTION = re.compile(rf"""(?P<name>--?[A-Za-z][\w.-]*=)(?P<quote>["'])(?P<word>{_WORD})(?P=quote)\Z""")
# Variables whose programs take their value as JSON or as shell text.
_PARSED = re.compile(
    r"JSON|CONFIG|ARGS|OPTS|OPTIONS|FLAGS|CMD|COMMAND|LABEL|SELECTOR|QUERY|EXPR|FORMAT|QUOTED", re.IGNORECASE
)


@rule(
    code="HV012",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container: no shell runs the command",
        "github.com/ray-project/kuberay issue 3741",
    ),
    fix="unsafe",
    needs=("\"'", "'\"", '\\"', '="', "='"),
)
def quotes_in_value(project: Project) -> Iterator[Problem]:
    """Report variables and options whose value is one word in quotes."""
    for run in project.runs:
        for role in run.roles:
            for container in (*role.pod.containers, *role.pod.init_containers):
                yield from _variables(container)
                yield from _options(container)
    for release in releases(project):
        if release.values_at is not None:
            for name, value, at in _pairs(release.values, release.values_at):
                yield from _variable(name, value, at)


def _variables(container: Container) -> Iterator[Problem]:
    for setting in container.settings:
        if setting.via == "env" and isinstance(setting.raw, str):
            yield from _variable(setting.name, setting.raw, setting.at)


def _variable(name: str, value: str, at: Place) -> Iterator[Problem]:
    found = _VALUE.match(value)
    if found is not None and not _PARSED.search(name):
        word = found["word"]
        message = f"the value of {name} has quotes of its own: the program gets `{value}`"
        yield Problem(at, message, f"write `{word}`", (SetValue(at, word),))


def _options(container: Container) -> Iterator[Problem]:
    if container.scripts:
        return
    for field, words in (("command", container.command), ("args", container.args)):
        for index, word in enumerate(words):
            found = _OPTION.match(word)
            if found is not None:
                at, right = container.at.child(field, index), f"{found['name']}{found['word']}"
                message = "no shell removes the quotes of this option: the program gets them in its value"
                yield Problem(at, message, f"write `{right}`", (SetValue(at, right),))


def _pairs(tree: Any, at: Place) -> Iterator[tuple[str, str, Place]]:
    """Yields the variables of lists of `name` and `value` in the values of a chart."""
    if isinstance(tree, list):
        for index, one in enumerate(tree):
            yield from _pairs(one, at.child(index))
    elif isinstance(tree, dict):
        name, value = tree.get("name"), tree.get("value")
        if isinstance(name, str) and isinstance(value, str):
            yield name, value, at.child("value")
        for key in mapping(tree):
            yield from _pairs(tree[key], at.child(key))
