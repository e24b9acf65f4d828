"""A value has quotes of its own inside those of YAML, so the program gets the quotes as letters.

`value: '"true"'` is a text of six letters, which no program reads as true. No shell stands between an entry of `args`
and the program either: `--model="/models/llama"` names a folder that begins with a quote.

The rule looks at variables whose whole value is one word in quotes, and at options with such a value in containers
that start no shell.

Remove the inner quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.document.document import SetValue
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container

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
def quotes_in_value(container: Container) -> Iterator[Problem]:
    """Report variables and options whose value is one word in quotes."""
    for setting in container.settings:
        found = _VALUE.match(setting.raw) if setting.via == "env" and isinstance(setting.raw, str) else None
        if found is not None and not _PARSED.search(setting.name):
            word = found["word"]
            message = f"the value of {setting.name} has quotes of its own: the program gets `{setting.raw}`"
            yield Problem(setting.at, message, f"write `{word}`", (SetValue(setting.at, word),))
    if container.scripts:
        return
    for field, words in (("command", container.command), ("args", container.args)):
        for index, word in enumerate(words):
            found = _OPTION.match(word)
            if found is not None:
                at, right = container.at.child(field, index), f"{found['name']}{found['word']}"
                message = "no shell removes the quotes of this option: the program gets them in its value"
                yield Problem(at, message, f"write `{right}`", (SetValue(at, right),))
