"""Runs the audit in tests, on objects as a cluster has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.validator.audit.api_server import ApiServer
from tests.validator.cli.sample_runs import CLEAN
from trainyard.cli import main


class Result(NamedTuple):
    """The exit status and the output of the audit."""

    code: int
    out: str
    err: str


class Audit:
    """Runs the audit of a cluster in an empty folder."""

    def __init__(self, folder: Path, captured: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.requests: list[str] = []
        self._captured = captured

    def __call__(self, server: ApiServer, *options: str) -> Result:
        """Run the audit."""
        try:
            return self.on(server.kubeconfig(self.folder), *options)
        finally:
            server.stop()
            self.requests = server.requests

    def on(self, kubeconfig: str, *options: str) -> Result:
        """Run the audit with a kubeconfig."""
        code = main.main(["audit", "--kubeconfig", kubeconfig, *options])
        out, err = self._captured.readouterr()
        assert "Traceback" not in err
        return Result(code, out, err)


def job(text: str = CLEAN, name: str = "llm", **metadata: Any) -> dict[str, Any]:
    """Return a PyTorchJob as the API server stores it."""
    tree: dict[str, Any] = yaml.safe_load(text)
    added = {"uid": "1", "managedFields": [{"manager": "kubectl"}], "generation": 1, "resourceVersion": "7"}
    return {
        **tree,
        "metadata": {"name": name, "namespace": "team", **added, **metadata},
        "status": {"conditions": [{"type": "Created", "message": "NCCL_SHM_DISABLE=no"}]},
    }


def config_map(name: str, **data: str) -> dict[str, Any]:
    """Return a ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "team"}, "data": data}


def with_pod(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Return the clean job with a changed pod template."""
    tree = job()
    change(tree["spec"]["pytorchReplicaSpecs"]["Worker"]["template"])
    return tree
