r"""The lines of a shell script end with a carriage return, as editors on Windows write them, so it fails at once.

A shell takes the sign as part of the last word: the error is "$'\r': command not found", or "no such file" with a name
that looks right. The first line of any script has the same effect: the kernel looks for an interpreter of that name.

`kubectl create configmap --from-file` keeps the sign, and writes such a script between quotes. The line ends of the
YAML file itself do no harm.

Convert the script with `dos2unix`, or write it as a block (`|`).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

_RETURN = "\r\n"


@rule(
    code="SC045",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "GNU Bash manual, 3.1.1 Shell Operation: words are separated by blanks, which a carriage return is not",
        "execve(2), Interpreter scripts; yaml.org/spec/1.2.2: 5.4 line break characters, 5.7 escaped characters",
        "https://www.hiascend.com/doc_center/source/en/mindcluster/730/clustersched/schedulingug/"
        "dlug_installation_faq_017.html",
    ),
    needs=(r"\r\n",),
)
def script_of_windows(project: Project) -> Iterator[Problem]:
    """Report scripts whose lines end with a carriage return."""
    for resource in project.of_kind("ConfigMap"):
        for key, text in mapping(resource.tree, "data").items():
            if isinstance(text, str) and _is_broken(str(key), text):
                yield _problem(resource.at.child("data", key), f"`{key}`")
    for run in project.runs:
        for container in run.containers:
            for script in container.scripts:
                if not script.path and _RETURN in script.text:
                    yield _problem(script.at, f"the script of container {container.name}")


def _is_broken(key: str, text: str) -> bool:
    first, end, _ = text.partition("\n")
    if key.endswith((".sh", ".bash")):
        return _RETURN in text
    return bool(end) and first.startswith("#!") and first.endswith("\r")


def _problem(at: Place, what: str) -> Problem:
    return Problem(
        at,
        f"the lines of {what} end with a carriage return, as on Windows: the shell takes it as part of each last word",
        "convert the script with `dos2unix`, or write it as a block (`|`)",
    )
