"""Versions of PyTorch, NCCL and CUDA in well-known images, by the last parts of the image's path and by its tag.

The host of the registry does not matter, because companies keep copies of these images. A tag without a version
(`latest`) and an image that is named by its digest alone say nothing.

Sources, read on 2026-11-24:
- pytorch/pytorch: hub.docker.com/r/pytorch/pytorch, tags `2.1.0-cuda11.8-cudnn8-runtime`. `wheel` in the table is the
  NCCL that the wheel of this PyTorch requires (nvidia-nccl-cu11, -cu12, -cu13 in its metadata; 1.13 contains 2.14).
- nvidia/pytorch: docs.nvidia.com/deeplearning/frameworks, support matrix and release notes of the PyTorch container.
  Releases whose NCCL the notes do not name, or that were not read, are not in the table.
- pytorch-training and huggingface-pytorch-training: aws/deep-learning-containers available_images.md.
- pytorch-gpu.2-3 and pytorch-cu121.2-3: cloud.google.com/deep-learning-containers/docs/choosing-container.
- acpt-pytorch-2.2-cuda12.1: learn.microsoft.com/azure/machine-learning, curated environments.
- mosaicml/pytorch: mosaicml/composer docker/README.md. Its variants for a cloud may have another NCCL.
- deepspeed/deepspeed: microsoft/DeepSpeed docker/, tags `v072_torch112_cu117`.
- odh-training-cuda128-torch28-py312: opendatahub-io/distributed-workloads images/runtime/training.
- Any image whose tag names a component with its version: `nccl2.28.3-1`, `nccl-2.30.4`, `torch2.0.1`, as the images
  nccl-tests of coreweave and oracle-quickstart do.

Tags of rayproject/ray, huggingface/transformers-pytorch-gpu and kubeflow/trainer name the version of their own program.
"""

from __future__ import annotations

import functools
import os
import re

from trainyard.startup import NamedTuple, pattern

Version = tuple[int, ...]
# The last number of a version before its release: 2.6.0a0 is later than 2.5 and may lack parts of 2.6.
BEFORE_RELEASE = -1


class Contents(NamedTuple):
    """The versions in an image; None for a component that the image lacks or that its name does not contain."""

    torch: Version | None = None
    nccl: Version | None = None
    cuda: Version | None = None


# Every known name contains one of these.
_WORDS = ("torch", "nccl", "deepspeed")
_NAMED = pattern(r"(?:^|[-_.])(torch|nccl)-?(\d+\.\d+\.\d+)(?![\d.])")
_RELEASED = pattern(r"(\d+\.\d+(?:\.\d+)?)(?![\d.])")
_CUDA = pattern(r"(?:cuda|cu)(\d{2})\.?(\d)")
# Names of repositories that contain the version of PyTorch.
_IN_NAME = (
    pattern(r"(?:huggingface-)?pytorch-(?:training-)?(?:gpu|cpu|cu\d+)\.(\d+)-(\d+)(?:\.|$)"),
    pattern(r"acpt-pytorch-(\d+)\.(\d+)-cuda"),
    pattern(r"odh-training-(?:cuda|rocm)\d+-torch(\d)(\d+)-py3\d+(?:-|$)"),
)
# Repositories whose tags begin with the version of PyTorch.
_IN_TAG = ("pytorch/pytorch", "mosaicml/pytorch", "pytorch-training", "huggingface-pytorch-training")
_DEEPSPEED = pattern(r"v\d+_torch(\d)(\d+)_cu\d+")


# No registry has a longer name: 255 characters of a path, 128 of a tag, and a digest. Python refuses longer numbers.
_MOST = 512


@functools.lru_cache(maxsize=512)
def contents(image: str) -> Contents:
    """Returns the versions in an image, according to its name and tag."""
    if len(image) > _MOST or not any(word in image for word in _WORDS):
        return Contents()
    path, tag = _split(image)
    named = {name: _version(number) for name, number in _NAMED.findall(tag)}
    known = _known(path, tag)
    return known._replace(torch=named.get("torch") or known.torch, nccl=named.get("nccl") or known.nccl)


def _split(image: str) -> tuple[str, str]:
    """Returns the last two parts of the path, and the tag."""
    name = image.partition("@")[0]
    parts = name.split("/")
    last, _, tag = parts[-1].partition(":")
    return "/".join((*parts[-2:-1], last)), tag


def _known(path: str, tag: str) -> Contents:
    name = path.rpartition("/")[2]
    if path == "nvidia/pytorch":
        return _table().get((path, tag[:5]), Contents()) if re.match(r"\d\d\.\d\d-", tag) else Contents()
    if path == "deepspeed/deepspeed":
        found = _DEEPSPEED.match(tag)
        return Contents(torch=(int(found[1]), int(found[2]))) if found else Contents()
    if path in _IN_TAG or name in _IN_TAG:
        released = _RELEASED.match(tag)
        return _of_torch(path, _version(released[1]), tag) if released else Contents()
    for form in _IN_NAME:
        if found := form.match(name):
            return Contents(torch=(int(found[1]), int(found[2])))
    return Contents()


def _of_torch(path: str, torch: Version, tag: str) -> Contents:
    cuda = _CUDA.search(tag)
    if cuda is None:
        return Contents(torch)
    # Other builders install an NCCL of their own.
    wheel = _table().get(("wheel", f"{torch[0]}.{torch[1]}")) if path == "pytorch/pytorch" else None
    return Contents(torch, wheel.nccl if wheel is not None else None, (int(cuda[1]), int(cuda[2])))


@functools.cache
def _table() -> dict[tuple[str, str], Contents]:
    import csv

    path = os.path.join(os.path.dirname(__file__), "image_versions.csv")
    with open(path, encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines)
        next(rows)
        return {(path, tag): Contents(*(_version(text) or None for text in rest)) for path, tag, *rest in rows}


def _version(text: str) -> Version:
    numbers = tuple(int(number) for number in re.findall(r"\d+", text.partition("a")[0]))
    return (*numbers[:2], BEFORE_RELEASE) if "a" in text else numbers


def pull_policy(image: str) -> str:
    """Returns the policy that Kubernetes takes for an image without one.

    Source: kubernetes v1.34.4 pkg/apis/core/v1/defaults.go: SetDefaults_Container.
    """
    tag = tag_of(image)
    return "Always" if tag == "latest" or not (tag or "@" in image) else "IfNotPresent"


def path_of(image: str) -> str:
    """Returns the name of an image without its tag and digest."""
    folder, slash, last = image.partition("@")[0].rpartition("/")
    return f"{folder}{slash}{last.partition(':')[0]}"


def tag_of(image: str) -> str:
    """Returns the tag of an image; empty without one."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def ends_with(path: str, parts: str) -> bool:
    """Returns true if the last parts of a path are these, in any registry."""
    return path == parts or path.endswith(f"/{parts}")


def short_name(image: str | None) -> str:
    """Returns the last part of an image's name, without registry, tag and digest; empty without an image."""
    return (image or "").rsplit("/", 1)[-1].split("@", 1)[0].split(":", 1)[0]
