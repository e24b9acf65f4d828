"""The audit as a test runs it, and objects as a cluster has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.validator.api_server import ApiServer
from tests.validator.runs import CLEAN
from validator import cli


class Result(NamedTuple):
    """What the audit ended with and printed."""

    code: int
    out: str
    err: str


class Audit:
    """Runs the audit of a cluster in an empty folder."""

    def __init__(self, folder: Path, captured: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self._captured = captured

    def __call__(self, server: ApiServer, *options: str) -> Result:
        """Run it."""
        try:
            return self.on(server.kubeconfig(self.folder), *options)
        finally:
            server.stop()
            self.asked = server.asked

    def on(self, kubeconfig: str, *options: str) -> Result:
        """Run it with a kubeconfig."""
        code = cli.main(["audit", "--kubeconfig", kubeconfig, *options])
        out, err = self._captured.readouterr()
        assert "Traceback" not in err
        return Result(code, out, err)


def job(text: str = CLEAN, name: str = "llm", **metadata: Any) -> dict[str, Any]:
    """A PyTorchJob as the API server has it."""
    tree: dict[str, Any] = yaml.safe_load(text)
    added = {"uid": "1", "managedFields": [{"manager": "kubectl"}], "generation": 1, "resourceVersion": "7"}
    return {
        **tree,
        "metadata": {"name": name, "namespace": "team", **added, **metadata},
        "status": {"conditions": [{"type": "Created", "message": "NCCL_SHM_DISABLE=no"}]},
    }


def config_map(name: str, **data: str) -> dict[str, Any]:
    """A ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "team"}, "data": data}


def with_pod(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """The clean job with another pod template."""
    tree = job()
    change(tree["spec"]["pytorchReplicaSpecs"]["Worker"]["template"])
    return tree
