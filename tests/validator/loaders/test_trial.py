"""Charts of strangers are rendered without Helm within limits of time and memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.document.document import Document
from trainyard.document.source import Source
from trainyard.loaders import trial
from trainyard.loaders.chart_release import About, NotRenderedError, open_chart, release_documents

DOUBLED = '{{ $x := "xxxxxxxxxxxxxxxx" }}{{ range until 60 }}{{ $x = printf "%s%s" $x $x }}{{ end }}{{ $x }}'
NESTED = "{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ toJson $x }}"
LARGE = {
    "long lists": "{{ range until 100000 }}{{ until 100000 }}{{ end }}",
    "a text that doubles": DOUBLED,
    "a list that doubles": NESTED,
}
ENDLESS = '{{ regexMatch "(a+)+$" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" }}'


def release(folder: Path, template: str) -> list[Document]:
    (folder / "templates").mkdir()
    (folder / "Chart.yaml").write_text("{apiVersion: v2, name: chart, version: 0.1.0}\n")
    (folder / "templates" / "object.yaml").write_text(template)
    default = Document(Source("values.yaml", ""), 0, {}, ())
    return release_documents(open_chart(folder, default), default, [], About())


@pytest.mark.parametrize("name", LARGE)
def test_a_template_that_grows_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Near its memory limit Python may collect garbage for minutes, so that either limit may be met first.
    monkeypatch.setattr(trial, "SECONDS", 2)
    monkeypatch.setattr(trial, "MEBIBYTES", 64)
    with pytest.raises(
        NotRenderedError, match=r"its templates take more than (64 MiB of memory|2 s of processor time)"
    ):
        release(tmp_path, f"kind: {LARGE[name]}\n")


def test_work_that_takes_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "MEBIBYTES", 16)
    with pytest.raises(trial.ExcessiveError, match="more than 16 MiB of memory"):
        # More than a process that has run many tests has left in its heap, which no limit counts.
        trial.try_out(lambda: bytearray(8 << 30))


def test_a_template_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "SECONDS", 1)
    with pytest.raises(NotRenderedError, match="its templates take more than 1 s of processor time"):
        release(tmp_path, f"kind: {ENDLESS}\n")


def test_the_memory_of_the_process_itself_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "MEBIBYTES", 16)
    own = bytearray(64 << 20)
    trial.try_out(lambda: bytearray(4 << 20))
    assert own


def test_other_templates_are_rendered(tmp_path: Path) -> None:
    (made,) = release(tmp_path, "kind: {{ until 3 | toJson | quote }}\n")
    assert made.tree == {"kind": "[0,1,2]"}
