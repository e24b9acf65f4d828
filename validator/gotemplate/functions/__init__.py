"""The functions that templates may call: the part of Go's, sprig's and Helm's functions that charts commonly use."""

from __future__ import annotations

from gotemplate.functions import collections, conditions, documents, numbers, texts, versions

FUNCTIONS = {
    **conditions.FUNCTIONS,
    **numbers.FUNCTIONS,
    **texts.FUNCTIONS,
    **collections.FUNCTIONS,
    **documents.FUNCTIONS,
    **versions.FUNCTIONS,
}
