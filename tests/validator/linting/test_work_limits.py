"""The work for a file follows from its length: files that repeat a thing need no quadratic searches."""

from __future__ import annotations

from collections import Counter

import pytest

from gotemplate.functions.texts import quote
from tests.validator.linting.test_large_files import JOB, codes
from trainyard.analysis.network import multus
from trainyard.document import yaml_nodes
from trainyard.document.files import File
from trainyard.document.source import BrokenText, Source
from trainyard.engine import selection
from trainyard.engine.engine import Engine
from trainyard.linting import pipeline, suppression
from trainyard.loaders.charts import MAX_RELEASES

NETWORK = """\
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: rail-%d}
spec:
  config: |
    {"cniVersion": "0.3.1", "type": "macvlan", "ipam": {"type": "host-local", "subnet": "10.0.0.0/33"}}
"""


def test_a_file_is_parsed_once_however_many_texts_are_embedded_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(NETWORK % number for number in range(10))
    parsed: Counter[str] = Counter()
    original = yaml_nodes._roots

    def counted(text: str, broken: list[BrokenText]) -> object:
        parsed[text] += 1
        return original(text, broken)

    monkeypatch.setattr(yaml_nodes, "_roots", counted)
    engine = Engine([selection.find_one("nad-host-local-range-invalid")])
    report = pipeline.lint([pipeline.read_file(File(Source("networks.yaml", text)))], engine)
    assert len(report.findings) == 10
    assert parsed[text] <= 2


def test_only_the_first_documents_of_values_in_a_file_are_rendered() -> None:
    found = codes("---\nnodes: 2\nprocessesPerNode: 1\n" * (MAX_RELEASES + 5), "HV010")
    assert len(found) == 5


def test_a_networks_annotation_beyond_the_limit_of_kubernetes_is_not_parsed() -> None:
    assert isinstance(multus.parse_annotation("," * (multus.MAX_ANNOTATIONS + 1)), multus.Malformed)


def test_suppressions_beyond_the_limit_of_a_file_have_no_effect() -> None:
    many = "; ".join(["NC005: words"] * (suppression.MAX_IN_FILE + 1))
    name = File(Source("job.yaml", JOB + f"# trainyard: allow {many}\n"))
    entries = suppression.collect([pipeline.read_file(name)], (), (), [])
    assert len(entries) == suppression.MAX_IN_FILE


@pytest.mark.parametrize(
    ("text", "quoted"),
    [('a"b\\c', r'"a\"b\\c"'), ("é\n\x01\u200b", r'"é\n\x01\u200b"'), ("[plain] ~!", '"[plain] ~!"')],
)
def test_text_is_quoted_like_in_go(text: str, quoted: str) -> None:
    assert quote(text) == quoted
