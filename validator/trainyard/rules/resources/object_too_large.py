"""The object is larger than Kubernetes stores, so it is refused.

etcd takes requests of 1.5 MiB, and an object is one request: what is larger as JSON ends with `etcdserver: request is
too large`. A ConfigMap ends at 1 MiB of values already, `Too long: may not be more than 1048576 bytes`. A client that
applies an object keeps a second copy of it in an annotation, which counts too. Such objects come of data sets,
tokenizers or whole programs that are packed into a ConfigMap, and of generated lists of variables.

Rules that look at runs leave an object of this size alone.

Put data on a volume or into the image, and variables into a file that the program reads.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.api_limits import MAX_CONFIG_MAP, MAX_OBJECT
from validator.fields import mapping
from validator.model import Resource
from validator.rule import Problem, rule

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
            f"as JSON this {resource.kind} has more than {MAX_OBJECT / MIB} MiB: the API server refuses it",
            "put data on a volume or into the image",
        )
    elif resource.kind == "ConfigMap":
        values = mapping(resource.tree, "data").values()
        size = sum(len(value.encode()) for value in values if isinstance(value, str))
        if size > MAX_CONFIG_MAP:
            yield Problem(
                resource.at.child("data").key(),
                f"the values of this ConfigMap have {size / MIB:.1f} MiB: the API server takes {MAX_CONFIG_MAP // MIB}",
                "put data on a volume or into the image",
            )
