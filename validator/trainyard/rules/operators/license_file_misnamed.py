"""The object with the vGPU license has no file of the name that the GPU operator mounts, so the driver has no license.

The operator mounts `gridd.conf` from the Secret or the ConfigMap of `driver.licensingConfig`. It mounts
`client_configuration_token.tok` too if `nlsEnabled` is true, which is the default. An earlier guide misspelt the name
of the token. Files with other names are not read, and the driver is slow after a few minutes without a license.

Rename the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.releases import releases
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Project, Resource

_CONFIG, _TOKEN = "gridd.conf", "client_configuration_token.tok"
_FIELDS = (("ConfigMap", "configMapName"), ("Secret", "secretName"))


@rule(
    code="GO084",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 internal/consts/consts.go: NLSClientTokenFileName; controllers/object_controls.go",
        "github.com/NVIDIA/cloud-native-docs pull request 252",
    ),
    needs=("licensingConfig",),
)
def license_file_misnamed(project: Project) -> Iterator[Problem]:
    """Report files that the operator does not mount."""
    licensing = [mapping(one.tree, "spec", "driver", "licensingConfig") for one in project.of_kind("ClusterPolicy")]
    licensing += [mapping(one.tree, "spec", "licensingConfig") for one in project.of_kind("NVIDIADriver")]
    licensing += [mapping(one.values, "driver", "licensingConfig") for one in releases(project)]
    judged = set()
    for config in licensing:
        for kind, field in _FIELDS:
            name = text(config, field)
            if name and (kind, name) not in judged:
                judged.add((kind, name))
                holder = project.named(kind, name, "gpu-operator")
                if holder is not None:
                    yield from _missing(holder, config)


def _missing(holder: Resource, config: dict[str, Any]) -> Iterator[Problem]:
    parts = [(field, mapping(holder.tree, field)) for field in ("data", "stringData", "binaryData")]
    keys = {str(key): field for field, part in parts for key in part}
    wanted = (_CONFIG,) if config.get("nlsEnabled") is False else (_CONFIG, _TOKEN)
    for name in wanted:
        others = [key for key in keys if key not in wanted]
        near = closest_match(name, others, 0.8) if name not in keys and others else None
        if near is not None:
            yield Problem(
                holder.at.child(keys[near], near).key(),
                f"the operator mounts `{name}`, and {holder.name} has `{near}`: the driver gets no license",
                f"write `{name}`",
            )
