"""The initializer of a TrainJob does not know the address of the dataset or the model, so it fails before training.

The initializers of Kubeflow Trainer download from Hugging Face (`hf://OWNER/NAME`) and from S3 (`s3://BUCKET/PATH`),
that of the dataset also from the cache of Trainer (`cache://SCHEMA/TABLE`). Any other scheme ends with "Unsupported
dataset storage URI scheme" or a similar error. The address of a dataset at Hugging Face has an
owner and a name: `hf://OWNER` alone ends with an IndexError. A model may have a name alone, such as `hf://gpt2`.

The rule applies to the runtimes that Trainer ships, and to those in the files that start its initializers. Those of a
company may know other addresses.

Write an address that the initializer knows, or mount the volume in the runtime and leave the initializer out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.training_runtimes import shipped_runtime
from trainyard.model.run import Run

_KNOWN = {"dataset": ("hf", "s3", "cache"), "model": ("hf", "s3")}
# The names of the runtimes with initializers.
_SHIPPED = ("torchtune-", "torch-distributed-with-cache")
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)")
_TO_FILL = re.compile(r"[${}<>]")


@rule(
    code="KF051",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubeflow/trainer v2.3.0 pkg/initializers/dataset/__main__.py and pkg/initializers/model/__main__.py: main",
        "kubeflow/trainer v2.3.0 pkg/initializers/dataset/huggingface.py: download_dataset",
        "github.com/kubeflow/trainer issues 3745 and 3834",
    ),
    needs=("storageUri",),
)
def initializer_address_refused(run: Run) -> Iterator[Problem]:
    """Report addresses that end an initializer."""
    for step, known in _KNOWN.items() if run.kind == "TrainJob" else ():
        address, at = text(run.spec, "initializer", step, "storageUri"), run.at.child("spec", "initializer", step)
        match = _ADDRESS.fullmatch(address)
        if not address or match is None or _TO_FILL.search(address) or not _is_of_trainer(run, step):
            continue
        scheme, path = match[1], match[2]
        at = at.child("storageUri")
        written = " or ".join(f"{one}://" for one in known)
        if scheme.lower() not in known:
            message = f"the initializer of the {step} does not know {scheme}://: it ends with an error"
            yield Problem(at, message, f"write an address with {written}")
        elif step == "dataset" and scheme.lower() == "hf" and "/" not in path.rstrip("/"):
            message = f"`{address}` has an owner or a name alone: the initializer of the dataset ends with an error"
            yield Problem(at, message, "write hf://OWNER/NAME")


def _is_of_trainer(run: Run, step: str) -> bool:
    """True if the runtime certainly starts the initializer that Trainer publishes."""
    if run.runtime is None:
        return shipped_runtime(run.spec) is not None and text(run.spec, "runtimeRef", "name").startswith(_SHIPPED)
    images = (container.image or "" for role in run.roles for container in role.pod.containers)
    return any(f"trainer/{step}-initializer" in image for image in images)
