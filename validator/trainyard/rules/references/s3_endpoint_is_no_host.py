"""The annotation for the endpoint of S3 holds the address of a bucket or a path, and KServe takes a host from it.

KServe gives the storage initializer `AWS_ENDPOINT_URL`, which it builds from `serving.kserve.io/s3-endpoint` with
`http://` or `https://` in front. With `s3://models/resnet` in the annotation, that is `https://s3://models/resnet`, and
the pod stays in `Init:Error`: the address has no such host.

Write the host of the service, such as `s3.eu-central-1.amazonaws.com` or `minio.storage:9000`. The bucket belongs into
`storageUri`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_ANNOTATION = "serving.kserve.io/s3-endpoint"


@rule(
    code="RF072",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kserve/kserve main aaac4e29 pkg/credentials/s3/utils.go: getEndpointConfiguration",
        "github.com/kserve/kserve issue 1519",
    ),
    needs=(_ANNOTATION,),
)
def s3_endpoint_is_no_host(resource: Resource) -> Iterator[Problem]:
    """Report endpoints of S3 with the scheme of a bucket."""
    value = mapping(resource.tree, "metadata", "annotations").get(_ANNOTATION)
    if resource.kind not in ("Secret", "ServiceAccount") or not isinstance(value, str):
        return
    scheme, separator, _ = value.strip().partition("://")
    if separator and scheme.lower() not in ("http", "https") and "{" not in scheme and "$" not in scheme:
        yield Problem(
            resource.at.child("metadata", "annotations", _ANNOTATION),
            f"`{_ANNOTATION}` takes a host, to which KServe adds `https://` or `http://`: `{value}` is not a host",
            "write the host of the service, such as `s3.amazonaws.com`",
        )
