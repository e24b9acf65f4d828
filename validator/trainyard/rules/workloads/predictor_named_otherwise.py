"""The block of the model has a `name`, which renames the container of the server, and KServe no longer finds it.

KServe merges the block of the model into the container `kserve-container` of the runtime: all fields of a container
are allowed in it, and a `name` takes the place of the right one. The webhook then refuses the pods, `Invalid
configuration: cannot find container: kserve-container`, and the revision or the Deployment gets none.

The rule leaves out predictors with `containers`, where the name is needed, and ModelMesh.

Remove `name`. The service is called as the object is.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_NAME = "kserve-container"
_MODE = "serving.kserve.io/deploymentMode"
_BLOCKS = (
    *("model", "huggingface", "lightgbm", "onnx", "paddle", "pmml", "pytorch", "sklearn", "tensorflow"),
    *("triton", "xgboost"),
)


@rule(
    code="WL040",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kserve/kserve main aaac4e29 pkg/apis/serving/v1beta1/inference_service_defaults.go: setPredictorModelDefaults",
        "kserve/kserve main aaac4e29 pkg/controller/v1beta1/inferenceservice/utils/utils.go: MergeRuntimeContainers",
        "kserve/kserve main aaac4e29 pkg/webhook/admission/pod/storage_initializer_injector.go: cannot find container",
        "github.com/kserve/kserve issue 4472",
    ),
    needs=("InferenceService",),
)
def predictor_named_otherwise(resource: Resource) -> Iterator[Problem]:
    """Report names that a block of a model gives the container."""
    is_service = resource.kind == "InferenceService" and resource.api_version == "serving.kserve.io/v1beta1"
    if not is_service or mapping(resource.tree, "metadata", "annotations").get(_MODE) == "ModelMesh":
        return
    for block in _BLOCKS:
        given = mapping(resource.tree, "spec", "predictor", block)
        name = text(given, "name")
        if name and name != _NAME and text(given, "storageUri") and "{" not in name and "$" not in name:
            yield Problem(
                resource.at.child("spec", "predictor", block, "name"),
                f"`name` renames the container of the server to `{name}`, and KServe looks for `{_NAME}`",
                "remove `name`",
            )
