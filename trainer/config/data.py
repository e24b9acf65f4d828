"""What is trained on."""

from dataclasses import dataclass
from pathlib import Path

from trainer.config.option import option


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Data that come with a package, or files in a folder, such as that of a mounted claim."""

    data: str = option(
        "digits",
        "digits (images that come with scikit-learn), text (the bytes of Python's own help) or folder (data_dir)",
        choices=("digits", "text", "folder"),
    )
    data_dir: Path = option(
        Path("data"), "folder of .npz, .safetensors, .parquet or webdataset .tar files (data: folder)"
    )
    classes: int = option(10, "different targets of the samples in data_dir; of tokens, the vocabulary", at_least=2)
    loader_workers: int = option(0, "processes of each rank that read samples ahead; 0 reads in step", at_least=0)
