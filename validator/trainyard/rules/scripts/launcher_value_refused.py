"""The launcher does not take the value of its option, so it stops before it starts any rank.

torchrun, `accelerate launch` and `deepspeed` read counts, ranks and ports as whole numbers, and choose from fixed
words: `--mixed_precision=float16` and `--nproc-per-node=all` are refused. `--nnodes` is a number or `MIN:MAX`. The
backend of the rendezvous is `c10d`, `static` or etcd; `nccl` is one of collectives. Addresses have no `http://`, and
`--master-addr` has no port. Timeouts in `--rdzv-conf` are whole numbers of seconds, and a misspelt key has no effect.
`--launcher` of `deepspeed` is a program that reaches the other nodes: `pdsh`, an MPI or `slurm`.

torchrun takes each option from a variable too: `PET_NNODES` stands for `--nnodes`. The rule checks these where the
container starts torchrun. Values with a variable of the shell are not known.

Write a value that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.launcher_options import starts
from trainyard.analysis.launchers.option_values import fits, is_told, rendezvous_faults, wanted
from trainyard.analysis.pods.settings import literal_value
from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import Launcher
from trainyard.facts.programs.option_forms import ACCELERATE, DEEPSPEED, TORCHRUN, Form
from trainyard.model.run import Container

_VARIABLE = "PET_"


@rule(
    code="SC021",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/option_forms.py: the parser of each launcher",
        "pytorch 2.15.0 torch/distributed/run.py: config_from_args; elastic/rendezvous/utils.py",
    ),
    needs=("torchrun", "torch.distributed", "deepspeed", "accelerate"),
)
def launcher_value_refused(container: Container) -> Iterator[Problem]:
    """Report values that a launcher does not take."""
    takes_variables = False
    for start in starts(container):
        forms = _forms(start.launcher)
        takes_variables |= start.launcher.takes_torchrun
        for word, index in start.options:
            name, equals, value = word.partition("=")
            form = forms.get(name.replace("_", "-"))
            if form is None or (not equals and index + 1 >= len(start.command.words)):
                continue
            written = value if equals else start.command.words[index + 1]
            yield from _refused(name, written, form, start.place(index if equals else index + 1))
    for setting in container.settings if takes_variables else ():
        if setting.name.startswith(_VARIABLE):
            form = TORCHRUN.get("--" + setting.name.removeprefix(_VARIABLE).lower().replace("_", "-"))
            told = literal_value(setting) if form is not None else None
            if form is not None and told is not None:
                yield from _refused(setting.name, told, form, setting.at)


def _forms(launcher: Launcher) -> dict[str, Form]:
    if launcher.takes_torchrun:
        return TORCHRUN
    return DEEPSPEED if "--hostfile" in launcher.valued else ACCELERATE


def _refused(name: str, value: str, form: Form, at: Place) -> Iterator[Problem]:
    if not is_told(value):
        return
    if not fits(value, form):
        yield Problem(at, f"{name} is `{value}`, which the launcher refuses: it stops", wanted(value, form))
    elif form.kind == "pairs":
        for fault, told in rendezvous_faults(value):
            yield Problem(at, f"{name}: {fault}", told)
