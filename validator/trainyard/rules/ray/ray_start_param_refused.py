"""`rayStartParams` has an option that `ray start` does not know, or a value of another type, so the pod ends at once.

KubeRay writes each entry as an option of `ray start`: `num-cpus: "4"` becomes `--num-cpus=4`. An unknown option ends
with "No such option", and `object-store-memory: 10Gi` with "is not a valid integer": Ray takes bytes. The pod
restarts until someone looks at its log. So does a port that two parts of a node would have: the workers have the ports
from 10002 to 19999, unless `min-worker-port` and `max-worker-port` say otherwise.

The rule reports names that resemble an option, texts where Ray takes a whole number, and ports that are taken twice.

Write the name of the option, the number in bytes or as a count, and a port of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import groups_of, image_release
from trainyard.analysis.jobs.ray_ports import taken_twice
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.programs.ray_options import INTEGERS, MISNAMED, OTHERS
from trainyard.model.run import Resource
from trainyard.startup import pattern

# What a template or a script fills in, as `$GPUS` and `NUMBER_OF_GPUS`.
_TO_FILL = pattern(r"[${<]|^[A-Z]+(_[A-Z]+)+$")
_KNOWN = (*INTEGERS, *OTHERS)


@rule(
    code="RY028",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "facts/programs/ray_options.py: the options of ray start",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/pod.go: convertParamMap",
        "analysis/jobs/ray_ports.py: the ports of a node; github.com/ray-project/kuberay issue 149",
    ),
    needs=("rayStartParams",),
)
def ray_start_param_refused(resource: Resource) -> Iterator[Problem]:
    """Report entries that end `ray start`."""
    for group in groups_of(resource):
        for key, value in mapping(group.tree, "rayStartParams").items():
            name, at = f"--{str(key).replace('_', '-')}", group.at.child("rayStartParams", key)
            near = None if name in _KNOWN else MISNAMED.get(name) or closest_match(name, _KNOWN, 0.86)
            if near is not None:
                yield Problem(at.key(), f"`ray start` has no option {name}: the pod ends", f"write `{near[2:]}`")
            written = str(value)
            is_told = isinstance(value, str) and not _TO_FILL.search(written)
            if name in INTEGERS and is_told and not written.removeprefix("-").isdecimal():
                message = f"{key} is `{written}`, and `ray start` takes a whole number: the pod ends"
                yield Problem(at, message, "write a number, or leave the option out")
        options = {str(key).replace("_", "-"): str(value) for key, value in group.start.items()}
        for key, part in taken_twice(options, image_release(text(group.container, "image"))):
            at = group.at.child("rayStartParams", key)
            yield Problem(at, f"{key} {part}: `ray start` refuses it and the pod ends", "write a port of its own")
