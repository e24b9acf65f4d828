"""The Service sends its requests to a port of a name that its pods do not have, so it reaches none of them.

`targetPort: http` is the name of a container port of the selected pods. A pod without a port of that name is left out
of the endpoints of this port: connections to the Service are refused.

The rule applies to pods in the file of the Service: a kustomization may add a container with the port to others.

Write the name of the container port, or its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.pods.selected import selected_in_file
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.model.run import Resource

# Numbers and placeholders are no names of ports.
_NAME = re.compile(r"[a-z0-9-]*[a-z][a-z0-9-]*\Z")


@rule(
    code="RF022",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("kubernetes v1.34.4 staging/src/k8s.io/endpointslice/utils.go: findPort, named ports",),
    needs=("targetPort",),
)
def service_port_name_unknown(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report names of ports that no selected pod has."""
    if resource.kind != "Service" or resource.api_version != "v1":
        return
    selector = mapping(resource.tree, "spec", "selector")
    wanted = [
        (index, port)
        for index, one in enumerate(items(resource.tree, "spec", "ports"))
        if (port := text(one, "targetPort")) and _NAME.match(port)
    ]
    if not selector or not wanted:
        return
    roles = selected_in_file(context.project, resource.at.document.source, selector)
    if not roles or not all(has_all_pods(run) and role.pod.containers for run, role in roles):
        return
    names = {
        text(port, "name")
        for _, role in roles
        for container in (*role.pod.containers, *role.pod.init_containers)
        for port in items(container.tree, "ports")
    } - {""}
    for index, port in wanted:
        if port not in names:
            near = closest_match(port, sorted(names), 0.6)
            have = format_list(sorted(names)) if names else "none with a name"
            yield Problem(
                resource.at.child("spec", "ports", index, "targetPort"),
                f"no pod of Service `{resource.name}` has a port `{port}`: it reaches none of them",
                f"did you mean `{near}`?" if near is not None else f"their ports: {have}",
                related=((roles[0][1].pod.template_at, "the pods"),),
            )
