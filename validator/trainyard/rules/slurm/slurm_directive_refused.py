"""An option of a directive is misspelt, or its value begins with an equals sign.

sbatch refuses options that it does not have, such as `--gpus-per-nodes` or `--job_name`, and shortened ones that
could be several: `--node` begins `--nodes` and `--nodelist`. An equals sign belongs right behind a long option.
Behind a space, or behind a short option, it is part of the value: `-p=gpu` asks for a partition with the name
`=gpu`.

Plugins of Slurm add options, so only those are reported that resemble one of sbatch.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from trainyard.analysis.launchers.slurm import MARK, Batch, batches
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Container

_NAMES = """
account acctg-freq array batch bb bbf begin chdir cluster cluster-constraint clusters comment
constraint container container-id contiguous core-spec cores-per-socket cpu-freq cpus-per-gpu
cpus-per-task deadline delay-boot dependency distribution error exclude exclusive export export-file
extra extra-node-info get-user-env gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket
gpus-per-task gres gres-flags help hint hold ignore-pbs input job-name kill-on-invalid-dep licenses
mail-type mail-user mcs-label mem mem-bind mem_bind mem-per-cpu mem-per-gpu mincores mincpus minsockets
minthreads network nice no-kill no-requeue nodefile nodelist nodes ntasks ntasks-per-core
ntasks-per-gpu ntasks-per-node ntasks-per-socket oom-kill-step open-mode output overcommit
oversubscribe parsable partition power prefer priority profile propagate qos quiet reboot requeue
reservation resv-ports segment share signal sockets-per-node spread-job stepmgr switches
tasks-per-node test-only thread-spec threads-per-core time time-min tmp tres-bind tres-per-node
tres-per-task uid usage use-min-nodes verbose version wait wait-all-nodes wckey workdir wrap x11
"""
OPTIONS = frozenset(_NAMES.split())
# What short options with a number, a time or the name of a thing of Slurm take never begins with an equals sign.
_EQUALS = re.compile(r"-[ANcnpqtw]=\S*|--[\w-]+ +=\s*\S*")
_SHORTEST = 6
_ALIKE = 0.9


@rule(
    code="SL009",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "slurm.schedmd.com/sbatch.html: options",
        "glibc 2.41 getopt_long(3): arguments of short and long options, abbreviations",
    ),
    needs=(MARK,),
)
def slurm_directive_refused(container: Container) -> Iterator[Problem]:
    """Report options that sbatch refuses."""
    for batch in batches(container):
        for number, word, message, help_text in _refused(batch):
            yield Problem(batch.script.at.word(number, word), message, help_text)


def _refused(batch: Batch) -> Iterator[tuple[int, str, str, str]]:
    lines = batch.script.text.split("\n")
    for one in batch.directives:
        meant = _meant(one.name.removeprefix("--")) if one.name.startswith("--") else None
        if meant is not None:
            yield one.line, one.name, f"sbatch has no option `{one.name}`: it refuses the script", f"write `--{meant}`"
    for number in sorted({one.line for one in batch.directives}):
        text = re.sub(r"\s#.*|[\"'].*", "", lines[number])
        for found in _EQUALS.finditer(text):
            option, _, value = found.group().partition("=")
            option, value = option.strip(), value.strip()
            right = f"{option}={value}" if option.startswith("--") else f"{option} {value}"
            yield (
                number,
                found.group(),
                f"sbatch takes the equals sign as part of the value of {option}",
                f"write `{right}`",
            )


@functools.lru_cache(maxsize=256)
def _meant(name: str) -> str | None:
    """Returns the option that a misspelt one resembles; None for one of sbatch, its abbreviation, or another."""
    if name in OPTIONS or sum(option.startswith(name) for option in OPTIONS) == 1:
        return None
    same = next((option for option in sorted(OPTIONS) if _plain(option) == _plain(name)), None)
    if same is not None or any(option.startswith(name) for option in OPTIONS) or len(name) < _SHORTEST:
        return same
    return closest_match(name, OPTIONS, _ALIKE)


def _plain(name: str) -> str:
    return "".join(word.removesuffix("s") for word in re.split(r"[-_]", name.lower()))
