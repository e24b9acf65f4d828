"""Loads the whole validator before the first test.

Hypothesis draws from the constants of the modules that are loaded: what it draws would otherwise depend on the tests
that ran before.
"""

from __future__ import annotations

import importlib
import pkgutil

import validator

for _module in pkgutil.walk_packages(validator.__path__, "validator."):
    if not _module.name.endswith(".__main__"):
        importlib.import_module(_module.name)
