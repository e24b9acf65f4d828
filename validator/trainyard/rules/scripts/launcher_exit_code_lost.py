"""The script exits with 0 although the training command has failed, so a failed run counts as a success.

A script exits with the code of its last command, and a pipeline with that of its last stage. After `torchrun ...` and
`rm -rf scratch`, the exit code is that of `rm`; `torchrun ... | tee train.log` exits with the code of `tee`. The
container completes, the pod is Succeeded, the job is marked complete, and neither `restartPolicy` nor `backoffLimit`
takes effect.

The rule follows the script with a launcher that fails, as bash would: pipes, `set`, traps, `&&` and `||`, branches,
loops, functions, subshells, background jobs, scripts in `bash -c`, in here-documents and in mounted ConfigMaps. All
other commands succeed. Without a launcher such as torchrun, the last Python program of a script with GPUs counts as the
training, also in a job without GPUs if its output goes through `tee`. If the exit code depends on something outside the
files, nothing is reported. Several launchers that each end with `|| echo ...` are a series that is meant to go on.

Write `set -e` at the top of the script if it goes on after the launcher, and `set -o pipefail` if the launcher is in a
pipe. Otherwise keep the code: `rc=$?` after the launcher, and `exit $rc` at the end. The `sh` of Debian images is dash,
which has no `pipefail` before version 0.5.13: use bash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.analysis.scripts.entry import Entry, entry_of
from trainyard.document.document import Edit, Substitute
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import BY_NAME
from trainyard.loaders.manifests import shell
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Project
from trainyard.startup import NamedTuple, pattern

if TYPE_CHECKING:
    from trainyard.analysis.scripts.state import Launch

# Their pods restart whatever the exit code is.
SERVERS = ("Deployment", "StatefulSet", "DaemonSet")
# Tokens and commands that are followed in one file; a thousand take 50 ms.
MOST_STEPS = 20_000
SET = pattern(r"^set -(?=[a-z]*e)[a-z]+(?= *(?:$|[#;]))", re.MULTILINE)
DISCARDED = pattern(r"[ \t]*\|\|[ \t]*(?:true|:)[ \t]*$", re.MULTILINE)
# The script tells that the launcher has failed, and goes on.
TOLD = pattern(r"\|\|[ \t]*(?:\{[ \t]*)?(?:echo|printf)\b")
WAIT = pattern(r"^([ \t]*)wait[ \t]*$", re.MULTILINE)


_spent: LastIndex[Project, dict[str, int]] = LastIndex(lambda _: {})


class Remedy(NamedTuple):
    """A change that keeps the exit code: the advice, options that the shells get, and a change of the text."""

    advice: str
    options: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    written: str = ""

    def applied(self, entry: Entry) -> Entry | None:
        """Returns the changed script, without the options; None if the remedy does not apply."""
        if self.pattern is None:
            return entry
        text, count = self.pattern.subn(self.written, entry.text)
        return entry._replace(text=text) if count else None


# Tried in this order.
REMEDIES = (
    Remedy("write `set -o pipefail` at the top of the script", ("-o", "pipefail")),
    Remedy("write `set -e` at the top of the script", ("-e",)),
    Remedy("write `set -eo pipefail` at the top of the script", ("-e", "-o", "pipefail")),
    Remedy("remove `|| true`", (), DISCARDED),
    Remedy("write `wait $!`, which returns the exit code of the last background process", (), WAIT, r"\1wait $!"),
    Remedy("write `wait $!`, and `set -e` at the top of the script", ("-e",), WAIT, r"\1wait $!"),
)


@rule(
    code="SC001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "GNU Bash manual 3.2.3 Pipelines: the exit status of a pipeline is that of its last command without pipefail",
        "GNU Bash manual 3.7.5 Exit Status, 4.3.1 The Set Builtin: -e",
        "POSIX.1-2024 Shell Command Language 2.9.2 Pipelines",
        "GNU Bash 5.2 and dash 0.5.12, run with generated scripts and a launcher that fails",
    ),
    fix="unsafe",
)
def launcher_exit_code_lost(container: Container, context: Context) -> Iterator[Problem]:
    """A launcher after whose failure the script exits with 0."""
    if not container.scripts or (context.run is not None and context.run.kind in SERVERS):
        return
    entry = entry_of(container)
    if entry is None or (entry.trains and not container.gpus and (context.run is None or not context.run.is_job)):
        return
    from trainyard.analysis.scripts.exit_codes import masked_launches
    from trainyard.analysis.scripts.syntax import work

    spent, name, start = _spent.of(context.project), entry.at.document.source.name, work.steps
    if spent.get(name, 0) > MOST_STEPS:
        return
    found = [
        (launch, next((one for one in REMEDIES if _helps(one, entry, launch)), None))
        for launch in masked_launches(entry.ends())
    ]
    spent[name] = spent.get(name, 0) + work.steps - start
    is_series = bool(found) and _is_series(entry.text)
    for launch, remedy in found:
        if is_series and remedy is None:
            continue
        yield Problem(
            launch.at,
            f"the exit code of {launch.program} is lost: {_reason(entry, remedy, launch.at.line)}",
            _help(entry, remedy, launch),
            _edits(entry) if remedy is REMEDIES[0] and not launch.is_inner else (),
        )


def _is_series(text: str) -> bool:
    """True if two or more launchers are told to have failed, one after another."""
    lines = text.replace("\\\n", " ").split("\n")
    return sum(1 for line in lines if TOLD.search(line) and any(name in line for name in BY_NAME)) > 1


def _helps(remedy: Remedy, entry: Entry, launch: Launch) -> bool:
    changed = remedy.applied(entry)
    return changed is not None and launch in changed.kept(remedy.options)


def _reason(entry: Entry, remedy: Remedy | None, line: int) -> str:
    parts = []
    if remedy is not None and "pipefail" in remedy.options:
        parts.append(f"the pipeline exits with that of {_sink(entry, line) or 'its last command'}")
    if remedy is not None and "-e" in remedy.options:
        parts.append("the script goes on and exits with that of its last command")
    if remedy is not None and remedy.pattern is WAIT:
        parts = ["`wait` without an argument exits with 0"]
    return ", and ".join(parts) or "the script exits with 0 after its failure"


def _sink(entry: Entry, line: int) -> str:
    """Returns the program at the end of the pipe on a line of the script; empty if it is not found."""
    for stages in shell.pipelines(entry.text):
        start = shell.strip_wrappers(stages[0].words)[1]
        last = shell.strip_wrappers(stages[-1].words)[1]
        if len(stages) > 1 and start and last and start[0].line == line - 1:
            return last[0].text.rsplit("/", 1)[-1]
    return ""


def _help(entry: Entry, remedy: Remedy | None, launch: Launch) -> str:
    if remedy is None:
        return f"keep it: write `rc=$?` after {launch.program}, without `||` or `if`, and `exit $rc` at the end"
    advice = remedy.advice
    if launch.is_inner:
        advice = advice.replace("of the script", "of this script, and of the one that starts it")
    bash = ", and run it with bash" if "pipefail" in remedy.options and entry.program != "bash" else ""
    return f"{advice}{bash}"


def _edits(entry: Entry) -> tuple[Edit, ...]:
    """Adds pipefail to an existing `set -e`; other scripts must be changed by hand."""
    found = SET.search(entry.text)
    if found is None or entry.program != "bash":
        return ()
    line = entry.text.count("\n", 0, found.start())
    return (Substitute(entry.at.below(line), found.group(), f"{found.group()}o pipefail"),)
