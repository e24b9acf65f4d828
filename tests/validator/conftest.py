"""Imports the whole validator before the first test.

Hypothesis draws from the constants of imported modules: without this, its examples would depend on the tests that ran
before.
"""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import trainyard
from trainyard.document import disk_answers

for _module in pkgutil.walk_packages(trainyard.__path__, "trainyard."):
    if not _module.name.endswith(".__main__"):
        importlib.import_module(_module.name)


@pytest.fixture(autouse=True)
def forget_folders() -> None:
    """Forgets the answers about the folders of the last test, which had the same names."""
    disk_answers.forget()
