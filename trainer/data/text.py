"""The text of Python's own help, included in every Python: about 700,000 bytes, one token each."""

from __future__ import annotations

import hashlib
import pydoc_data.topics
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..config.schema import FieldError
from .batch import Batch, Data, Indices

VOCABULARY = 256
_TEST_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Windows:
    """Consecutive windows of `length` tokens of a text. The last target of a window is the first token of the next."""

    tokens: Tensor
    length: int

    def __len__(self) -> int:
        return (len(self.tokens) - 1) // self.length

    def take(self, indices: Indices) -> Batch:
        """Returns the windows at `indices`, in that order."""
        starts = torch.from_numpy(indices)[:, None] * self.length
        places = starts + torch.arange(self.length)
        return Batch(self.tokens[places].long(), self.tokens[places + 1].long())


def load_text(context_length: int, vocabulary: int = VOCABULARY) -> Data:
    """Loads the text: the first nine tenths for training, the rest for testing.

    A model may have a larger `vocabulary` than the text.

    Raises:
        FieldError: One of the two parts is shorter than a window.
    """
    text = "\n".join(words for _, words in sorted(pydoc_data.topics.topics.items())).encode()
    tokens = torch.from_numpy(np.frombuffer(text, dtype=np.uint8).copy())
    end = int(len(tokens) * (1 - _TEST_SHARE))
    if context_length > (longest := min(end, len(tokens) - end) - 1):
        raise FieldError("context_length", f"must be at most {longest} with data text, not {context_length}", 64)
    return Data(
        training=Windows(tokens[:end], context_length),
        test=Windows(tokens[end:], context_length),
        shape=(context_length,),
        classes=max(VOCABULARY, vocabulary),
        fingerprint=f"text-{context_length}-{hashlib.sha256(text).hexdigest()[:16]}",
    )
