"""Make torch's TCPStore work without libuv, in the harness's own image.

Debian builds torch without libuv while torchrun's stores ask for it; `USE_LIBUV=0` reaches only some of them. A `.pth`
file imports this module at every start of Python, and the store's constructor is changed once torch.distributed exists.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class _StoreWithoutLibuv(MetaPathFinder):
    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG002
        if fullname != "torch.distributed":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_change(module: ModuleType) -> None:
                execute(module)
                _change(module.TCPStore)

            spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]
        return spec


def _change(store: Any) -> None:
    construct = store.__init__

    def __init__(self: Any, *arguments: Any, **options: Any) -> None:  # noqa: N807
        construct(self, *arguments, **{**options, "use_libuv": False})

    store.__init__ = __init__


sys.meta_path.insert(0, _StoreWithoutLibuv())
