"""Times as Kubernetes writes them."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Returns the time in UTC, without fractions of a second."""
    return datetime.now(UTC).replace(microsecond=0)


def text(moment: datetime) -> str:
    """Returns a time in RFC 3339, such as 2026-01-31T12:00:00Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parsed(value: object) -> datetime | None:
    """Returns the time that a text in RFC 3339 states; None for anything else."""
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
