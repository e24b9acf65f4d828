"""Whether the torchruns of a container share the store of their first rendezvous."""

from __future__ import annotations

from trainyard.analysis.launchers.rendezvous import VARIABLE
from trainyard.analysis.pods.environment import has_unknown_variables
from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.document.document import Append, Edit, Place
from trainyard.engine.rule import Context
from trainyard.model.run import Container
from trainyard.startup import NamedTuple


class Shared(NamedTuple):
    """Why the store is shared, the place of the variable if it has a wrong value, and what sets it."""

    reason: str
    at: Place | None
    edits: tuple[Edit, ...]


def shared_store(container: Container, context: Context) -> Shared | None:
    """Returns why a container shares the store; None if it does not, or if the files do not show its variables."""
    setting = container.setting(VARIABLE)
    if setting is None:
        if has_unknown_variables(container, context):
            return None
        edit = Append(container.at.child("env"), {"name": VARIABLE, "value": "1"})
        return Shared(f"{VARIABLE} is not set", None, (edit,))
    value = literal_value(setting)
    if value is None or value == "1":
        return None
    return Shared(f"{VARIABLE} is `{value}`, and not 1", setting.at, change_value(setting, "1"))
