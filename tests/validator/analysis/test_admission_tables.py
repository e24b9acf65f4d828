"""The tables with the conditions on kinds, which are imported by the group of a kind."""

from __future__ import annotations

import importlib
import pkgutil

from trainyard.analysis import admission
from trainyard.analysis.admission.tables import rows_of


def test_the_conditions_of_each_table_are_found_by_version_and_kind() -> None:
    names = [module.name for module in pkgutil.iter_modules(admission.__path__)]
    modules = [importlib.import_module(f"{admission.__name__}.{name}") for name in names]
    tables = [module.ROWS for module in modules if isinstance(getattr(module, "ROWS", None), dict)]
    assert len(tables) > 3
    for table in tables:
        for (group, kind), rows in table.items():
            assert rows_of(f"{group}/v1" if group else "v1", kind) is rows, (group, kind)


def test_a_kind_without_conditions_has_none() -> None:
    assert rows_of("kubeflow.org/v1", "PyTorchJob") == ()
    assert rows_of("apps/v1", "ControllerRevision") == ()
