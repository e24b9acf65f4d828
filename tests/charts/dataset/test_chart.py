"""The program reads the files and the plan that the chart renders."""

from __future__ import annotations

from pathlib import Path

from tests.charts.dataset.program import FETCH, contents, fetch, sha256
from tests.charts.dataset.server import Server
from tests.charts.helm import CHARTS, objects, template


def test_the_rendered_files_and_plan_fetch_the_data(tmp_path: Path, server: Server) -> None:
    values = {
        "volumes": {"data": {"claim": "team", "mountPath": "/data"}},
        "dataset": {
            "source": "http",
            "volume": "data",
            "path": "flowers/v1",
            "http": {"urls": [server.put("/a.tar", b"a"), server.put("/b.tar", b"b")]},
            "checksum": {"files": {"b.tar": sha256(b"b")}},
        },
    }
    result = template("helm", CHARTS["training-job"], values=values)
    (config,) = (found for found in objects(result.stdout) if found["kind"] == "ConfigMap")
    # As the kubelet mounts a ConfigMap: links to the newest version of each file.
    version = tmp_path / "config" / "..2026"
    version.mkdir(parents=True)
    (version.parent / "..data").symlink_to(version.name)
    config["data"]["plan.json"] = config["data"]["plan.json"].replace('"/data/', f'"{tmp_path}/')
    for name, text in config["data"].items():
        (version / name).write_text(text)
        (version.parent / name).symlink_to(f"..data/{name}")

    fetch(version.parent / "plan.json", program=version.parent / "fetch.py")

    assert contents(tmp_path / "flowers" / "v1") == {"a.tar": b"a", "b.tar": b"b"}
    assert {path.name for path in FETCH.parent.glob("*.py")} == set(config["data"]) - {"plan.json"}
