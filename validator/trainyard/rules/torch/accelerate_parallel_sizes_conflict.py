"""The parallel sizes of accelerate do not fit its processes, or leave FSDP nothing to shard over.

The product of the sizes in `parallelism_config` is the number of processes of all machines; accelerate ends with
"total_size does not match num_processes" otherwise. With FSDP, a part of the processes shards the parameters:
`dp_shard_size` times `cp_size`. If tensor parallelism takes all processes, FSDP ends with
"Invalid mesh_dim_names ('dp_shard_cp',)". Replicas (`dp_replicate_size`) go with tensor or context parallelism only if
`dp_shard_size` is above 1 too.

The rule leaves out sequence parallelism, which DeepSpeed arranges, and starts with `--num_processes`.

Raise `parallelism_config_dp_shard_size`, or lower `parallelism_config_tp_size`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.accelerate_config import AccelerateConfig, accelerate_configs, launches
from trainyard.document.lookup import integer, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

PREFIX = "parallelism_config_"


@rule(
    code="TD038",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/accelerate 16cb6eb src/accelerate/parallelism_config.py: __post_init__, _validate_accelerator",
        "github.com/huggingface/accelerate issue 3798 and pull 4180",
        "github.com/axolotl-ai-cloud/axolotl pull request 2989",
    ),
    needs=("parallelism_config",),
)
def accelerate_parallel_sizes_conflict(project: Project) -> Iterator[Problem]:
    """Report sizes that leave processes or FSDP without work."""
    for config in accelerate_configs(project):
        tree = mapping(config.tree, "parallelism_config")
        names = [f"{PREFIX}{name}_size" for name in ("dp_replicate", "dp_shard", "tp", "cp")]
        sizes = {name: integer(tree, name) if name in tree else 1 for name in names}
        if not tree or None in sizes.values() or (integer(tree, f"{PREFIX}sp_size") or 1) > 1:
            continue
        replicate, shard, tensor, context = (sizes[name] or 1 for name in names)
        total, processes = replicate * shard * tensor * context, integer(config.tree, "num_processes")
        at = config.at.child("parallelism_config")
        if text(config.tree, "distributed_type") == "FSDP" and total > 1 and replicate * shard * context == 1:
            yield Problem(
                at.child(names[2]),
                f"{PREFIX}tp_size takes all {tensor} processes, so FSDP has none to shard over, and the start fails",
                f"raise {PREFIX}dp_shard_size, or use another distributed_type",
            )
        elif replicate > 1 and shard == 1 and tensor * context > 1:
            yield Problem(
                at.child(names[0]),
                f"replicas without shards do not go with tensor or context parallelism, and {names[1]} is 1: "
                "accelerate stops",
                f"raise {names[1]}, and write a {names[0]} of 1",
            )
        elif processes is not None and 1 < total != processes and not _are_told(config, project):
            yield Problem(
                at.key(),
                f"the sizes make {total} processes, and num_processes is {processes}: accelerate stops",
                f"write sizes whose product is {processes}",
                related=((config.at.child("num_processes"), "num_processes"),),
            )


def _are_told(config: AccelerateConfig, project: Project) -> bool:
    return any(launch.has("--num-processes") for _, launch in launches(config, project))
