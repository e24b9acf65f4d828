"""READMEs as pages of the site: a link to a file that is no page becomes the path of that file."""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path, PurePosixPath

import yaml

ROOT = Path(__file__).parents[2]
DOCS = PurePosixPath("docs")
QUICKSTART = ("## Two commands", "## Find your way")

_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_VALUES = "| Key | Type | Default | Description |\n|-----|------|---------|-------------|\n"
# `kubeVersion` of a chart, whose ending lets Helm accept the versions of clouds.
_NEWER = re.compile(r">=(\d+\.\d+)\.0-0")
_VALUE = re.compile(r"^\| (\S+) \| (\w+) \| (`.*?`) \| (.*) \|$", re.MULTILINE)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)\s]+)\)")


def published() -> dict[str, str]:
    """Returns the files of the repository that are pages, and the path of each page."""
    return {
        "README.md": "quickstart.md",
        "CHANGELOG.md": "changelog.md",
        "recipes/README.md": "recipes.md",
        "trainer/README.md": "trainer/index.md",
        **{f"charts/{name}/README.md": f"charts/{name}.md" for name in charts()},
    }


def charts() -> list[str]:
    """Returns the names of the charts that are installed, so without the library chart."""
    return sorted(path.parent.name for path in ROOT.glob("charts/*/README.md"))


def page(file: str) -> str:
    """Returns the text of the page that a file of the repository is."""
    text = (ROOT / file).read_text(encoding="utf-8")
    if file == "README.md":
        start, end = (text.index(f"{heading}\n") for heading in QUICKSTART)
        text = f"# Quickstart\n\n{text[start:end]}"
    return with_links_of_the_site(_with_narrow_values(_NEWER.sub(r"\1 or newer", text)), file)


def _with_narrow_values(text: str) -> str:
    """Returns a README with the key, the type and the default of each value in one cell, and breaks in long keys."""
    before, _, rows = text.partition(_VALUES)
    if not rows:
        return text
    narrow = _VALUE.sub(lambda row: f"| **{row[1].replace('.', '.<wbr>')}**<br>{row[2]}: {row[3]} | {row[4]} |", rows)
    return f"{before}| value | description |\n| --- | --- |\n{narrow}"


def chart_index() -> str:
    """Returns the page that lists the charts."""
    rows = []
    for name in charts():
        chart = yaml.safe_load((ROOT / "charts" / name / "Chart.yaml").read_text(encoding="utf-8"))
        rows.append(f"| [{name}]({name}.md) | {chart['version']} | {chart['description'].rstrip('.')} |")
    introduction = (
        "Each chart has a version of its own, and its values are checked against a JSON Schema. `helm install` names\n"
        "the folder of a chart, such as `charts/training-job`. The pages are the READMEs in these folders."
    )
    table = "\n".join(("| chart | version | content |", "| --- | --- | --- |", *rows))
    return f"# Charts\n\n{introduction}\n\n{table}\n"


def with_links_of_the_site(text: str, file: str) -> str:
    """Returns the text of a file of the repository with links that lead to pages of the site.

    Args:
        text: the Markdown.
        file: path of the file in the repository. Its links are relative to it.
    """
    parts = _FENCED.split(text)
    return "".join(
        part if index % 2 else _LINK.sub(lambda link: _link(link, file), part) for index, part in enumerate(parts)
    )


def _link(link: re.Match[str], file: str) -> str:
    sign, words, target = link.groups()
    path, hash_sign, anchor = target.partition("#")
    if not path or ":" in path:
        return link[0]
    place = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
    found = _page_of(place)
    if found is not None:
        folder = posixpath.dirname(published()[file]) or "."
        return f"{sign}[{words}]({os.path.relpath(found, folder)}{hash_sign}{anchor})"
    return f"`{place}`" if posixpath.basename(place) in words.split() else f"{words} (`{place}`)"


def _page_of(place: str) -> str | None:
    """Returns the path on the site of a file or folder of the repository; None if it is no page."""
    if not (ROOT / place).exists():
        raise FileNotFoundError(f"a link leads to {place}, which does not exist")
    if PurePosixPath(place).is_relative_to(DOCS):
        return str(PurePosixPath(place).relative_to(DOCS))
    pages = published()
    return pages.get(place) or pages.get(f"{place}/README.md")
