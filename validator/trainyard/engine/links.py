"""Links to the pages of rules on the documentation site."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trainyard import DOCUMENTATION

if TYPE_CHECKING:
    from trainyard.engine.rule import Rule


def rule_url(rule: Rule) -> str:
    """Returns the address of a rule's page; that of the manual for a check of the configuration without a link."""
    base = (os.environ.get("TRAINYARD_DOCS_URL") or DOCUMENTATION).rstrip("/")
    return rule.link or (f"{base}/validator/checks/" if rule.page else f"{base}/rules/{rule.name}/")
