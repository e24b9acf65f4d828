"""A variable that begins with `PET_` names no option of torchrun, so torchrun does not read it.

torchrun takes each of its options from a variable: `PET_` and the long name in capitals, with underscores:
`--nproc-per-node` from `PET_NPROC_PER_NODE`. It does not tell about other names, and uses its default: one node, one
process, a port of its own.

Write the name of the option. Set `MASTER_ADDR` and `MASTER_PORT` for programs without torchrun.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import torchrun_commands
from trainyard.analysis.pods.settings import name_at, rename_variable
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.launchers import ALL
from trainyard.model.run import Setting

_PREFIX = "PET_"
_TORCHRUN = next(one for one in ALL if one.name == "torchrun")
_KNOWN = tuple(
    sorted(
        _PREFIX + option[2:].upper().replace("-", "_")
        for option in (*_TORCHRUN.valued, *_TORCHRUN.flags)
        if option.startswith("--")
    )
)
_OTHERS = {
    "PET_NODES": "PET_NNODES",
    "PET_NUM_NODES": "PET_NNODES",
    "PET_WORLD_SIZE": "PET_NNODES",
    "PET_RANK": "PET_NODE_RANK",
    "PET_NPROC": "PET_NPROC_PER_NODE",
    "PET_MASTER_ADDRESS": "PET_MASTER_ADDR",
    "PET_RDZV_HOST": "PET_RDZV_ENDPOINT",
}


@rule(
    code="TD054",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/argparse_util.py: env, check_env; torch/distributed/run.py",
        "github.com/kubeflow/trainer pull 1573",
    ),
    fix="unsafe",
    needs=(_PREFIX,),
)
def torchrun_variable_unknown(setting: Setting, context: Context) -> Iterator[Problem]:
    """Report variables with the prefix of torchrun's that it does not read."""
    name, container = setting.name, context.container
    if not name.startswith(_PREFIX) or name in _KNOWN or container is None:
        return
    meant = _OTHERS.get(name) or closest_match(name, _KNOWN, 0.8)
    if meant is None and next(iter(torchrun_commands(container)), None) is None:
        return
    yield Problem(
        name_at(setting),
        f"torchrun has no option of this name, so it does not read `{name}`",
        f"did you mean `{meant}`?" if meant is not None else "name an option, such as `PET_NNODES`, or remove it",
        rename_variable(setting, meant) if meant is not None and container.setting(meant) is None else (),
    )
