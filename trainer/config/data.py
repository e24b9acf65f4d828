"""The data to train on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .option import option


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Data that come with a package, or files in a folder, such as that of a mounted claim."""

    data: str = option(
        "digits",
        "data set: digits (images in scikit-learn), text (the bytes of Python's own help) or folder (data_dir)",
        choices=("digits", "text", "folder"),
    )
    data_dir: Path = option(
        Path("data"), "folder of .bin, .npz, .safetensors, .parquet or WebDataset .tar files (for data: folder)"
    )
    classes: int = option(10, "number of classes in data_dir; for tokens, the size of the vocabulary", at_least=2)
    loader_workers: int = option(0, "data loader processes per rank (0: load in the training process)", at_least=0)
