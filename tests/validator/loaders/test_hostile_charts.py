"""Charts of strangers: nothing is fetched, and nothing uses memory without a limit."""

from __future__ import annotations

import io
import json
import os
import tarfile
import time
from pathlib import Path

import pytest

from tests.charts import helm
from trainyard.loaders.helm import rendering
from trainyard.loaders.helm.errors import RenderingError
from trainyard.loaders.helm.release import ChartRelease

REMOTE = json.dumps({"$ref": "http://127.0.0.1:1/schema.json"}).encode()
RECORDER = """\
#!/bin/sh
printf -- '---\\n# Source: a/b.yaml\\nseen: "%s"\\n' "$KUBECONFIG $HELM_KUBETOKEN $HELM_DRIVER $HELM_NO_PLUGINS."
"""


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    folder = tmp_path / "chart"
    (folder / "charts").mkdir(parents=True)
    (folder / "templates").mkdir()
    (folder / "Chart.yaml").write_text("{apiVersion: v2, name: chart, version: 0.1.0}\n")
    return folder


def packed(name: str, content: bytes) -> bytes:
    """Return an archive with a file."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        member = tarfile.TarInfo(f"part/{name}")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def packed_schema(content: bytes) -> bytes:
    """Return the archive of a chart with this schema."""
    return packed("values.schema.json", content)


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_a_remote_schema_in_nested_archives_is_refused(chart: Path, levels: int) -> None:
    content = packed_schema(REMOTE)
    for _ in range(levels - 1):
        content = packed("charts/inner.tgz", content)
    (chart / "charts" / "part.tgz").write_bytes(content)
    with pytest.raises(RenderingError, match="outside of the chart"):
        rendering.check_helm_values(chart)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (packed_schema(os.urandom(1000))[:-500], "cannot be opened"),
        (packed_schema(b" " * (6 * 2**20)), "too large"),
        (b"no archive", "cannot be opened"),
        (packed_schema(b"[" * 100_000), "nested too deeply"),
    ],
    ids=["cut off", "large", "no archive", "deep"],
)
def test_a_damaged_archive_is_an_error(chart: Path, content: bytes, message: str) -> None:
    (chart / "charts" / "part.tgz").write_bytes(content)
    with pytest.raises(RenderingError, match=message):
        rendering.check_helm_values(chart)


def test_a_file_name_that_is_not_utf_8_is_an_error(chart: Path) -> None:
    (chart / "\udcff.txt").write_text("")
    with pytest.raises(RenderingError, match="not UTF-8"):
        rendering.check_helm_values(chart)


def test_a_link_to_a_whole_file_system_is_an_error(chart: Path) -> None:
    (chart / "files").symlink_to("/")
    with pytest.raises(RenderingError, match="more than 10,000 files"):
        rendering.check_helm_values(chart)


def test_the_memory_of_helm_is_limited(chart: Path) -> None:
    (chart / "templates" / "large.yaml").write_text('{{ repeat 5000000000 "x" }}\n')
    with pytest.raises(RenderingError, match="GiB of memory"):
        rendering.helm_template(ChartRelease(chart, helm=helm.tool("helm")), {})


def test_the_output_of_helm_is_limited(chart: Path, tmp_path: Path) -> None:
    program = tmp_path / "helm"
    program.write_text("#!/bin/sh\nexec head -c 100000000 /dev/zero\n")
    program.chmod(0o755)
    with pytest.raises(RenderingError, match=r"more than 32 MiB of .*lint a part of the output"):
        rendering.helm_template(ChartRelease(chart, helm=str(program)), {"unread": "x" * 200_000})


@pytest.mark.parametrize("script", ["exec sleep 60", "sleep 60 & exit 0", "exec >&- 2>&-; sleep 60"])
def test_the_time_of_helm_is_limited(chart: Path, tmp_path: Path, script: str) -> None:
    program = tmp_path / "helm"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    start = time.monotonic()
    with pytest.raises(RenderingError, match=r"did not render .* within 1 s"):
        rendering.helm_template(ChartRelease(chart, helm=str(program)), {}, seconds=1)
    assert time.monotonic() - start < 30


def test_helm_does_not_see_variables_that_lead_to_a_cluster_and_starts_no_plugins(
    chart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/secret")
    monkeypatch.setenv("HELM_KUBETOKEN", "secret")
    monkeypatch.setenv("HELM_DRIVER", "sql")
    program = tmp_path / "helm"
    program.write_text(RECORDER)
    program.chmod(0o755)
    (made,) = rendering.helm_template(ChartRelease(chart, helm=str(program)), {})
    assert made.document.tree == {"seen": "/dev/null   1."}
