"""A pipe hides the exit code of the training command, so a failed run counts as a success.

A shell gives a pipeline the exit code of its last command. `torchrun ... | tee train.log` exits with the code of `tee`,
which is 0 even if the training crashed. The container completes, the pod is Succeeded, the job is marked complete, and
neither `restartPolicy` nor `backoffLimit` takes effect.

Without a launcher such as torchrun, the last Python program of the script counts as the training.

The rule ignores a script with `set -o pipefail`, a shell started with `-o pipefail`, and a script that reads
`PIPESTATUS`. The `sh` of Debian images is dash, which has no `pipefail` before version 0.5.13: use bash.

Write `set -o pipefail` at the top of the script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.training_commands import training_indexes
from trainyard.document.document import Edit, Substitute
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.manifests import shell
from trainyard.model.run import Container, Script

SINKS = frozenset(
    (
        "tee",
        "ts",
        "cat",
        "grep",
        "egrep",
        "sed",
        "awk",
        "gawk",
        "logger",
        "tail",
        "cut",
        "tr",
        "jq",
        "rotatelogs",
        "multilog",
    )
)
SET = re.compile(r"^set -(?=[a-z]*e)[a-z]+(?= *(?:$|[#;]))", re.MULTILINE)


@rule(
    code="SC001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "GNU Bash manual 3.2.3 Pipelines: the exit status of a pipeline is that of its last command without pipefail",
        "POSIX.1-2024 Shell Command Language 2.9.2 Pipelines",
    ),
    fix="unsafe",
)
def exit_code_masked_by_tee(script: Script, context: Context) -> Iterator[Problem]:
    """A training command whose exit code a pipeline hides."""
    if (
        "|" not in script.text
        or "pipefail" in script.text
        or "PIPESTATUS" in script.text
        or "pipestatus" in script.text
    ):
        return
    if context.container is not None and any("pipefail" in word for word in _argv(context.container)):
        return
    pipelines = [[shell.strip_wrappers(stage.words)[1] for stage in stages] for stages in shell.pipelines(script.text)]
    edits = _edits(script, context.container)
    trains = training_indexes([tuple(word.text for word in stages[0]) for stages in pipelines])
    for index, stages in enumerate(pipelines):
        first, last = stages[0], stages[-1]
        if index in trains and len(stages) > 1 and last and _program(last) in SINKS:
            yield Problem(
                script.at.below(first[0].line),
                f"the exit code of {_program(first)} is lost: the pipeline exits with that of {_program(last)}",
                "write `set -o pipefail` at the top of the script, and run it with bash",
                edits,
            )


def _program(words: tuple[shell.Word, ...]) -> str:
    return words[0].text.rsplit("/", 1)[-1]


def _argv(container: Container) -> tuple[str, ...]:
    return container.command + container.args


def _edits(script: Script, container: Container | None) -> tuple[Edit, ...]:
    """Adds the option to an existing `set -e`; other scripts must be changed by hand."""
    found = SET.search(script.text)
    if found is None or container is None or not any(word.rsplit("/", 1)[-1] == "bash" for word in _argv(container)):
        return ()
    line = script.text.count("\n", 0, found.start())
    return (Substitute(script.at.below(line), found.group(), f"{found.group()}o pipefail"),)
