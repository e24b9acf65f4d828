"""`pytest -k <rule>` selects every test of a rule, whether its name is written with dashes or with underscores.

The test of a rule has the rule's name in its id, the tests of its cases have the name of a file.
"""

from __future__ import annotations

import pytest

from tests.validator.rules import cases
from trainyard.engine.rule import Rule


def pytest_itemcollected(item: pytest.Item) -> None:
    """Adds both forms of the rule's name to the words that `-k` looks at."""
    callspec = getattr(item, "callspec", None)
    rule = callspec.params.get("rule") if callspec else None
    if isinstance(rule, Rule):
        item.extra_keyword_matches.update(cases.words(rule))
