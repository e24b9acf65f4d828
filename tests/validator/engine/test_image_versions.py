"""The versions that the names and tags of images tell."""

from __future__ import annotations

import pytest

from trainyard.facts.images import Contents, contents
from trainyard.facts.versions import before, since

IMAGES = {
    "pytorch/pytorch:2.1.0-cuda11.8-cudnn8-runtime": Contents((2, 1, 0), (2, 18), (11, 8)),
    "docker.io/pytorch/pytorch:2.13.0-cuda13.0-cudnn9-devel@sha256:0123": Contents((2, 13, 0), (2, 29), (13, 0)),
    "harbor.example.com/proxy/nvidia/pytorch:24.07-py3": Contents((2, 4, -1), (2, 22), (12, 5)),
    "mosaicml/pytorch:2.1.2_cu121-python3.10-ubuntu20.04": Contents((2, 1, 2), None, (12, 1)),
    "registry.example.com/pytorch-training:2.5.1-gpu-py311-cu124-ubuntu22.04-ec2": Contents((2, 5, 1), None, (12, 4)),
    "registry.example.com/deeplearning/pytorch-cu121.2-3.py310": Contents((2, 3)),
    "registry.example.com/deeplearning/huggingface-pytorch-training-cu121.2-3.transformers.4-42": Contents((2, 3)),
    "registry.example.com/curated/acpt-pytorch-2.2-cuda12.1:31": Contents((2, 2)),
    "deepspeed/deepspeed:v072_torch112_cu117": Contents((1, 12)),
    "registry.example.com/odh/odh-training-cuda130-torch210-py312-openmpi41:odh-stable": Contents((2, 10)),
    "example.com/nccl-tests:12.9.1-devel-ubuntu22.04-nccl2.28.3-1-8b67957": Contents(None, (2, 28, 3)),
    "example.com/cuda-ssh:torch-ceeb8c2-nccl-cuda11.8.0-nccl2.16.2-1-torch2.0.1": Contents((2, 0, 1), (2, 16, 2)),
}
SILENT = (
    "pytorch/pytorch",
    "pytorch/pytorch:latest",
    "pytorch/pytorch@sha256:0123",
    "nvidia/pytorch:team-24.07",
    "nvidia/pytorch:35.01-py3",
    "example.com/team/llm:2.1.0",
    "rayproject/ray:2.52.0",
    "huggingface/transformers-pytorch-gpu:4.41.2",
    "example.com:5000/team/torchserve:0.12.0",
    ":",
    # Python makes no number of so many digits.
    f"pytorch/pytorch:{'9' * 5000}.0.0-cuda12.1",
    f"registry.example.com/pytorch-2.{'9' * 5000}-cuda12.1:1",
)


@pytest.mark.parametrize(("image", "known"), IMAGES.items())
def test_the_name_of_a_well_known_image_tells_its_versions(image: str, known: Contents) -> None:
    assert contents(image) == known


@pytest.mark.parametrize("image", SILENT)
def test_other_names_tell_nothing(image: str) -> None:
    assert contents(image) == Contents()


def test_a_version_before_its_release_is_neither_before_nor_since_it() -> None:
    version = (2, 6, -1)
    assert since(version, (2, 5))
    assert not since(version, (2, 6))
    assert not before(version, (2, 6))
    assert before(version, (2, 7))


def test_a_version_that_is_not_known_is_neither_before_nor_since_any_release() -> None:
    assert not since(None, (2, 6))
    assert not before(None, (2, 6))
