"""NCCL does not read a line of `nccl.conf` as it is meant.

The file is no shell script. NCCL takes the text before the first `=` as the name and all text behind it as the value.
So `export NCCL_DEBUG=INFO` sets a variable named `export NCCL_DEBUG`, and `NCCL_DEBUG = INFO` one whose name ends with
a space. Quotes, spaces and comments behind the `=` become a part of the value: an interface named `"eth0"` does not
exist. A `$NAME` stays as it is. NCCL reports none of this.

Write `NAME=value` without spaces, quotes and `export`, and comments on lines of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

FILES = ("nccl.conf", ".nccl.conf")


@rule(
    code="NC045",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=("NVIDIA/nccl 081eafa src/misc/param.cc: setEnvFile",),
    needs=("nccl.conf",),
)
def nccl_conf_line_not_read(resource: Resource) -> Iterator[Problem]:
    """Report lines whose name or value is not what the text seems to say."""
    if resource.kind != "ConfigMap":
        return
    for key, content in mapping(resource.tree, "data").items():
        if key in FILES and isinstance(content, str):
            at = resource.at.child("data", key)
            for number, line in enumerate(content.split("\n")):
                fault = _fault(line.rstrip("\r"))
                if fault:
                    message = f"NCCL does not read `{line.strip()}` as it is meant: {fault}"
                    yield Problem(at.word(number, line), message, "write `NAME=value` without more on the line")


def _fault(line: str) -> str:
    name, equals, value = line.partition("=")
    if not line.strip() or line.startswith("#"):
        return ""
    if not equals:
        return "it has no `=`"
    if name.startswith("export "):
        return "`export` becomes a part of the name"
    if name != name.strip():
        return "the spaces become a part of the name"
    if value.strip().startswith(('"', "'")):
        return "the quotes become a part of the value"
    if value != value.strip() or " #" in value:
        return "all text behind the `=` becomes the value"
    return "variables are not replaced" if value.startswith(("$", "`")) else ""
