"""The flight record of a rank, which PyTorch writes as a pickle. It is read without running code."""

from __future__ import annotations

import io
import pickle
from typing import Any, NoReturn


class _PlainUnpickler(pickle.Unpickler):
    """Reads numbers, text, lists and dictionaries only: everything else is found by name, and could run code."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"the record names {module}.{name}, and only plain data are expected")


def collectives(data: bytes) -> list[dict[str, Any]]:
    """Returns the recorded collectives.

    Raises:
        ValueError: The data are no flight record.
    """
    try:
        record = _PlainUnpickler(io.BytesIO(data)).load()
    # A damaged pickle raises errors of many kinds.
    except Exception as error:
        raise ValueError(f"it cannot be read: {error}") from error
    entries = record.get("entries") if isinstance(record, dict) else None
    if not isinstance(entries, list) or not entries:
        raise ValueError("it holds no collective")
    return entries
