"""The functions that templates may call: the part of Go's, sprig's and Helm's functions that our charts use."""

from __future__ import annotations

from gotemplate.functions import collections, conditions, documents, numbers, texts

FUNCTIONS = {
    **conditions.FUNCTIONS,
    **numbers.FUNCTIONS,
    **texts.FUNCTIONS,
    **collections.FUNCTIONS,
    **documents.FUNCTIONS,
}
