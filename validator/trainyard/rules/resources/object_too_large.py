"""The object exceeds the size that Kubernetes can store, so the API server rejects it.

etcd accepts requests of up to 1.5 MiB, and an object is one request: a larger object, measured as JSON, fails with
`etcdserver: request is too large`. A ConfigMap is limited to 1 MiB of values,
`Too long: may not be more than 1048576 bytes`. A client that applies an object keeps a second copy of it in an
annotation, which counts too. Such objects result from data sets, tokenizers or whole programs that are packed into a
ConfigMap, and from generated lists of variables.

Rules that check runs ignore an object of this size.

Put data on a volume or into the image, and variables into a file that the program reads.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.kubernetes.api_limits import MAX_CONFIG_MAP, MAX_OBJECT
from trainyard.model.run import Resource

MIB = 1024 * 1024


@rule(
    code="RS009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "etcd v3.6.5 server/embed/config.go: DefaultMaxRequestBytes",
        "kubernetes v1.34.4 pkg/apis/core/validation/validation.go: ValidateConfigMap; pkg/apis/core/types.go",
    ),
)
def object_too_large(resource: Resource) -> Iterator[Problem]:
    """An object that the API server cannot store."""
    if resource.is_too_large:
        yield Problem(
            resource.at,
            f"this {resource.kind} is larger than {MAX_OBJECT / MIB} MiB as JSON: the API server rejects it",
            "put data on a volume or into the image",
        )
    elif resource.kind == "ConfigMap":
        values = mapping(resource.tree, "data").values()
        size = sum(len(value.encode()) for value in values if isinstance(value, str))
        if size > MAX_CONFIG_MAP:
            yield Problem(
                resource.at.child("data").key(),
                f"the values of this ConfigMap have {size / MIB:.1f} MiB; the limit is {MAX_CONFIG_MAP // MIB} MiB",
                "put data on a volume or into the image",
            )
