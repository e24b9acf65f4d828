"""Server-side dry runs of objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic.exceptions import ResourceNotFoundError

Object = dict[str, Any]
REFERENCES = ("serviceAccountName", "priorityClassName", "runtimeClassName")
# Apply, as Helm 4 does, so that the API server rejects a list that names an item twice.
APPLY_OPTIONS = {"dry_run": "All", "field_manager": "dry-run", "force_conflicts": True}
STRICT = ("fieldValidation", "Strict")


def refusals(connection: Any, objects: Iterable[Object]) -> list[str]:
    """Return an error for each object that the API server refuses; a field that its schema does not know is an error.

    An operator creates pods from the templates of a job without validating them first, so the templates are sent
    as well.
    """
    asked = [part for found in objects for part in (found, *_pods(found))]
    answers = [(part, refusal(connection, part)) for part in asked]
    return [f"{part['kind']} {part['metadata']['name']}: {answer}" for part, answer in answers if answer]


def refusal(connection: Any, asked: Object) -> str:
    """Return the reason why the API server refuses an object; empty if it does not."""
    metadata = asked["metadata"]
    try:
        resource = connection.resources.get(api_version=asked["apiVersion"], kind=asked["kind"])
        # The client would escape characters beyond 16 bits in a way that YAML does not know.
        body = json.dumps(asked, ensure_ascii=False)
        namespace = _namespace(asked) if resource.namespaced else None
        connection.server_side_apply(
            resource, body, metadata["name"], namespace, query_params=[STRICT], **APPLY_OPTIONS
        )
    except ResourceNotFoundError:
        return f"{asked['apiVersion']} is not served"
    except ApiException as error:
        return str(json.loads(error.body)["message"])
    return ""


def _namespace(found: Object) -> str:
    """Return the namespace of an object; Helm creates one that names none in that of the release."""
    return str(found["metadata"].get("namespace", "default"))


def _pods(found: Object) -> Iterator[Object]:
    for role, template in _templates(found.get("spec", {})):
        title = {"name": f"{found['metadata']['name']}-{role}", "namespace": _namespace(found)}
        yield {"apiVersion": "v1", "kind": "PodTemplate", "metadata": title, "template": template}
        # A Pod is validated more strictly than a PodTemplate, but the objects that it refers to must exist.
        metadata = {**template["metadata"], **title}
        own = {key: value for key, value in template["spec"].items() if key not in REFERENCES}
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": own}


def _templates(spec: Object) -> Iterator[tuple[str, Object]]:
    """Yield role and pod template of each part of a job or a TrainingRuntime."""
    for name, specs in spec.items():
        if name.endswith("ReplicaSpecs"):
            yield from ((role.lower(), part["template"]) for role, part in specs.items())
    for job in spec.get("template", {}).get("spec", {}).get("replicatedJobs", []):
        yield job["name"], job["template"]["spec"]["template"]
