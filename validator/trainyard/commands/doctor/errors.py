"""The error of logs that cannot be read."""

from __future__ import annotations

from trainyard.document.errors import MistakeError


class DoctorError(MistakeError):
    """Logs that cannot be read; `args[0]` gives the reason and the next step."""
