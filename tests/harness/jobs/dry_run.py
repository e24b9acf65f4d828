"""Ask a cluster whether it would take objects, without making any."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic.exceptions import ResourceNotFoundError

Object = dict[str, Any]
ELSEWHERE = ("serviceAccountName", "priorityClassName", "runtimeClassName")
# Applied, as Helm 4 does and the API server's own schemas demand, a list that names a thing twice is a fault.
ASKED = {"dry_run": "All", "field_manager": "dry-run", "force_conflicts": True}
STRICT = ("fieldValidation", "Strict")


def refusals(connection: Any, objects: Iterable[Object]) -> list[str]:
    """What the API server says against objects, one entry each; a field that its schema does not know is a fault too.

    An operator makes pods from the templates of a job, and nothing looks at them before it does: they are asked about
    as well.
    """
    asked = [part for found in objects for part in (found, *_pods(found))]
    answers = [(part, _refusal(connection, part)) for part in asked]
    return [f"{part['kind']} {part['metadata']['name']}: {answer}" for part, answer in answers if answer]


def _refusal(connection: Any, asked: Object) -> str:
    metadata = asked["metadata"]
    try:
        resource = connection.resources.get(api_version=asked["apiVersion"], kind=asked["kind"])
        # The client would escape what lies beyond 16 bits, and in YAML such an escape is none.
        body = json.dumps(asked, ensure_ascii=False)
        connection.server_side_apply(
            resource, body, metadata["name"], metadata.get("namespace"), query_params=[STRICT], **ASKED
        )
    except ResourceNotFoundError:
        return f"{asked['apiVersion']} is not served"
    except ApiException as error:
        return str(json.loads(error.body)["message"])
    return ""


def _pods(found: Object) -> Iterator[Object]:
    for role, template in _templates(found.get("spec", {})):
        title = {"name": f"{found['metadata']['name']}-{role}", "namespace": found["metadata"]["namespace"]}
        yield {"apiVersion": "v1", "kind": "PodTemplate", "metadata": title, "template": template}
        # Of a Pod more is asked than of a PodTemplate, but also that what it names is there.
        metadata = {**template["metadata"], **title}
        own = {key: value for key, value in template["spec"].items() if key not in ELSEWHERE}
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": own}


def _templates(spec: Object) -> Iterator[tuple[str, Object]]:
    """Role and pod template of each part of a job, and of a TrainingRuntime."""
    for name, specs in spec.items():
        if name.endswith("ReplicaSpecs"):
            yield from ((role.lower(), part["template"]) for role, part in specs.items())
    for job in spec.get("template", {}).get("spec", {}).get("replicatedJobs", []):
        yield job["name"], job["template"]["spec"]["template"]
