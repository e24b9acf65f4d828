"""The pages of the site: each is in the navigation, and links between files of the repository are links of the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.documentation.examples import ROOT
from tools.site import readmes

SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
WRITTEN = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}


def pages(entries: list[Any]) -> Iterator[str]:
    """The pages of the navigation, in its order."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            for value in entry.values():
                yield from [value] if isinstance(value, str) else pages(value)


NAVIGATION = list(pages(SITE["nav"]))


def test_every_page_is_in_the_navigation() -> None:
    assert sorted(WRITTEN - set(NAVIGATION)) == []
    assert sorted(set(readmes.published().values()) - set(NAVIGATION)) == []


def test_every_chart_has_a_page() -> None:
    charts = {path.parent.name for path in ROOT.glob("charts/*/values.yaml")}
    assert {page for page in NAVIGATION if page.startswith("charts/")} == {
        "charts/index.md",
        *(f"charts/{name}.md" for name in charts),
    }
    assert all(f"[{name}]({name}.md)" in readmes.chart_index() for name in charts)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/architecture.md"])
def test_a_first_page_names_every_chart(page: str) -> None:
    text = (ROOT / page).read_text()
    assert [name for name in readmes.charts() if f"charts/{name}" not in text] == []


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("charts/training-job/README.md", "[x](../training-operator)", "[x](training-operator.md)"),
        ("charts/training-job/README.md", "[x](../training-operator/README.md#a)", "[x](training-operator.md#a)"),
        ("charts/training-job/README.md", "[`make gpu`](../../docs/trainer/gpu.md)", "[`make gpu`](../trainer/gpu.md)"),
        ("charts/training-job/README.md", "[x](#trainer)", "[x](#trainer)"),
        ("charts/training-job/README.md", "[x](https://example.com/a.md)", "[x](https://example.com/a.md)"),
        ("charts/training-job/README.md", "```\n[x](absent.md)\n```\n", "```\n[x](absent.md)\n```\n"),
        ("charts/training-platform/README.md", "[ci](ci)", "`charts/training-platform/ci`"),
        ("recipes/README.md", "[a](lightning/train.py)", "a (`recipes/lightning/train.py`)"),
        ("README.md", "![a](docs/demo.svg)", "![a](demo.svg)"),
        ("README.md", "[CHANGELOG.md](CHANGELOG.md)", "[CHANGELOG.md](changelog.md)"),
    ],
)
def test_a_link_of_a_readme_leads_to_a_page_or_names_the_file(file: str, text: str, expected: str) -> None:
    assert readmes.with_links_of_the_site(text, file) == expected


def test_a_link_to_a_file_that_does_not_exist_fails() -> None:
    with pytest.raises(FileNotFoundError, match=r"charts/absent"):
        readmes.with_links_of_the_site("[x](../absent/README.md)", "charts/training-job/README.md")


def test_the_quickstart_is_the_part_of_the_readme_that_a_user_types() -> None:
    page = readmes.page("README.md")
    assert page.startswith("# Quickstart\n")
    assert {"## Two commands", "## Your own program", "## Your own cluster"} <= set(page.splitlines())
    assert "## Find your way" not in page


@pytest.mark.parametrize("chart", readmes.charts())
def test_the_page_of_a_chart_names_the_oldest_kubernetes_in_words(chart: str) -> None:
    page = readmes.page(f"charts/{chart}/README.md")
    assert re.search(r"requires Kubernetes 1\.\d\d or newer", page)
    assert ".0-0" not in page


@pytest.mark.parametrize("chart", readmes.charts())
def test_the_table_of_values_fits_a_page(chart: str) -> None:
    """A key, its type and its default share a cell: in columns of their own they leave no room for the description."""
    written = (ROOT / "charts" / chart / "README.md").read_text()
    _, _, rows = written.partition("|-----|------|---------|-------------|\n")
    page = readmes.page(f"charts/{chart}/README.md")
    assert len(rows.splitlines()) > 5
    assert "| Key | Type |" not in page
    for row in rows.splitlines():
        key, _, description = row[2:].partition(" ")[0], *row.rpartition("` | ")[1:]
        assert f"| **{key.replace('.', '.<wbr>')}**<br>" in page
        assert readmes.with_links_of_the_site(description, f"charts/{chart}/README.md") in page


def test_no_line_of_a_page_becomes_a_quotation() -> None:
    """A line that begins with `>=1.29` is one."""
    quoted = [
        f"{file}: {line}"
        for file in readmes.published()
        for line in readmes.page(file).splitlines()
        if re.match(r" {0,3}>", line)
    ]
    assert quoted == []


@pytest.mark.parametrize(
    "words",
    [
        "preflight",
        "Grafana",
        "gpu-rdma-policy",
        "migrate",
        "FAQ",
        "ImagePullBackOff",
        "stuck",
        "Pending",
        "quickstart",
        "tutorial",
        "upgrade",
        "uninstall",
        "NCCL timeout",
        "shm-default-64mi",
        "Kueue",
        "Watchdog caught collective operation timeout",
        "unhandled system error",
        "unhandled cuda error",
        "no socket interface found",
        "Bus error",
        "Connection refused",
        "Cannot allocate memory",
        "RendezvousTimeoutError",
        "FailedScheduling",
        "Insufficient nvidia.com/gpu",
    ],
)
def test_the_words_that_people_search_for_are_on_a_written_page(words: str) -> None:
    assert any(words in (ROOT / "docs" / page).read_text() for page in WRITTEN)


def test_the_values_that_tables_name_exist() -> None:
    values = yaml.safe_load((ROOT / "charts/training-job/values.yaml").read_text())
    fields = (ROOT / "docs/tutorials/from-pytorchjob.md").read_text().partition("\n## 3. ")[0]
    messages = (ROOT / "docs/messages.md").read_text()
    names = [
        name
        for text, pattern in ((fields, r"`([a-z]\w+(?:\.\w+)*)(?:: \w+)?`"), (messages, r"`([a-z]\w+\.\w+)`"))
        for row in re.findall(r"^\| .* \| (.*) \|$", text, re.MULTILINE)
        for name in re.findall(pattern, row)
    ]
    assert len(names) > 60
    assert [name for name in names if not _is_value(values, name)] == []


def _is_value(values: dict[str, Any], name: str) -> bool:
    """True if the chart has a value of this dotted name; the keys of an empty mapping are free."""
    found: Any = values
    for part in name.split("."):
        if not isinstance(found, dict) or (found and part not in found):
            return False
        found = found.get(part, {})
    return True
