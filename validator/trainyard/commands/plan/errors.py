"""The error of a plan that cannot be made from what the user gave."""

from __future__ import annotations

from trainyard.document.errors import MistakeError


class PlanError(MistakeError):
    """A plan that cannot be made; `args[0]` gives the reason and the next step."""
