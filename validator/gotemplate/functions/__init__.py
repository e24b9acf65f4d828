"""The functions that templates may call: the part of Go's, sprig's and Helm's functions that charts commonly use."""

from __future__ import annotations

from gotemplate.functions import (
    collections,
    conditions,
    documents,
    numbers,
    paths,
    patterns,
    sequences,
    texts,
    versions,
    words,
)

FUNCTIONS = {
    **conditions.FUNCTIONS,
    **numbers.FUNCTIONS,
    **texts.FUNCTIONS,
    **words.FUNCTIONS,
    **paths.FUNCTIONS,
    **patterns.FUNCTIONS,
    **collections.FUNCTIONS,
    **sequences.FUNCTIONS,
    **documents.FUNCTIONS,
    **versions.FUNCTIONS,
}
# Sprig has these again under a name with `must`: they fail where the others return an error as text or nothing.
_MUST = (
    "append", "chunk", "compact", "deepCopy", "first", "fromJson", "has", "initial", "last", "merge", "mergeOverwrite",
    "prepend", "regexFind", "regexFindAll", "regexMatch", "regexReplaceAll", "regexReplaceAllLiteral", "regexSplit",
    "rest", "reverse", "slice", "toJson", "toPrettyJson", "toRawJson", "uniq", "without",
)  # fmt: skip
FUNCTIONS |= {f"must{name[0].upper()}{name[1:]}": FUNCTIONS[name] for name in _MUST}
