"""The functions that templates may call: Go's own, sprig's and Helm's, as far as our charts use them."""

from __future__ import annotations

from validator.roads.templates.functions import collections, conditions, documents, numbers, texts

FUNCTIONS = {
    **conditions.FUNCTIONS,
    **numbers.FUNCTIONS,
    **texts.FUNCTIONS,
    **collections.FUNCTIONS,
    **documents.FUNCTIONS,
}
