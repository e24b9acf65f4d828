"""YAML is read as by sigs.k8s.io/yaml, the parser of kubectl and Helm.

The expected JSON is what `YAMLToJSON` of sigs.k8s.io/yaml 1.6.0 returns.
"""

from __future__ import annotations

import json

import pytest

from trainyard.document import fast_yaml, reading
from trainyard.document.document import Place
from trainyard.document.source import Source

READ = {
    # Keys are strings in JSON.
    "on: v": '{"true": "v"}',
    "off: v": '{"false": "v"}',
    "y: v": '{"true": "v"}',
    "N: v": '{"false": "v"}',
    "yes: v": '{"true": "v"}',
    "True: v": '{"true": "v"}',
    "0x1: v": '{"1": "v"}',
    "010: v": '{"8": "v"}',
    "08: v": '{"8": "v"}',
    "1e3: v": '{"1000": "v"}',
    "1_0: v": '{"10": "v"}',
    "1.5: v": '{"1.5": "v"}',
    "0.1: v": '{"0.1": "v"}',
    "1e-7: v": '{"1e-07": "v"}',
    "1e21: v": '{"1e+21": "v"}',
    "123456789012345678901: v": '{"1.2345679e+20": "v"}',
    "-0: v": '{"0": "v"}',
    ".nan: v": '{".nan": "v"}',
    "'on': v": '{"on": "v"}',
    "1:30: v": '{"1:30": "v"}',
    "{a: {<<: {on: 1}}}": '{"a": {"true": 1}}',
    # Values.
    "a: ._5": '{"a": "._5"}',
    "a: .5": '{"a": 0.5}',
    "a: !!int '1'": '{"a": 1}',
    "a: !!float '1'": '{"a": 1}',
    "a: !!bool 'yes'": '{"a": true}',
    "a: !!null ''": '{"a": null}',
    "a: !!str 1": '{"a": "1"}',
    "a: !!binary aGk=": '{"a": "hi"}',
    "a: !x 1": '{"a": 1}',
    "a: !x '1'": '{"a": "1"}',
    # The tag `!` makes a string.
    "a: ! 1": '{"a": "1"}',
    "a: ! yes": '{"a": "yes"}',
    "a: ! ~": '{"a": "~"}',
    "a: [! 1, 2]": '{"a": ["1", 2]}',
    "! on: v": '{"on": "v"}',
    "a: ! {b: 1}": '{"a": {"b": 1}}',
    "a: '! 1'": '{"a": "! 1"}',
    "é: ! 1": '{"é": "1"}',
    "a: &x ! 1\nb: *x": '{"a": "1", "b": "1"}',
    "a: ! &x 1\nb: &x 2": '{"a": "1", "b": 2}',
    # A slash is escaped in JSON alone.
    '{"a": "\\/"}': '{"a": "/"}',
    'a: "\\\\/"': '{"a": "\\\\/"}',
    "a: '\\/'": '{"a": "\\\\/"}',
    "a: 18446744073709551615": '{"a": 18446744073709551615}',
    "a: 123456789012345678901": '{"a": 1.2345678901234568e20}',
    # An anchor may be set again.
    "a: &x 1\nb: &x 2\nc: *x": '{"a": 1, "b": 2, "c": 2}',
    "a: &x [1]\nb: {c: &x 3, d: *x}\ne: *x": '{"a": [1], "b": {"c": 3, "d": 3}, "e": 3}',
    "a: &x {b: 1}\nc: {<<: *x, b: &x 2}\nd: *x": '{"a": {"b": 1}, "c": {"b": 2}, "d": 2}',
}
REFUSED = {
    "~: v": "a mapping key is null",
    "null: v": "a mapping key is null",
    "9223372036854775808: v": "too large a number",
    "a: .nan": ".nan is not a value of Kubernetes",
    "a: -.inf": "-.inf is not a value of Kubernetes",
    "a: !!int abc": "does not have the type of its tag, !!int",
    "a: !!null x": "does not have the type of its tag, !!null",
    "a: !!binary x": "is not base64",
    "a: &x *x": "did not find expected",
    "a: &x 1\nb: &x [*x]": "an alias is within its own anchor",
    'a: "\\/"': r"unknown escape character `\/`",
    'a: ["\\\\\\/b"]': r"unknown escape character `\/`",
    '"\\/": v': r"unknown escape character `\/`",
}


@pytest.mark.parametrize("text", READ)
def test_a_text_has_the_data_that_kubernetes_reads(text: str) -> None:
    (document,), broken = reading.read(Source("a.yaml", f"{text}\n"))
    assert not broken
    assert document.tree == json.loads(READ[text])
    fast = fast_yaml.read_plain(Source("a.yaml", f"{text}\n"))
    assert fast is None or fast[0].tree == document.tree


@pytest.mark.parametrize("text", REFUSED)
def test_a_text_that_kubernetes_refuses_is_refused_with_the_reason(text: str) -> None:
    documents, (broken,) = reading.read(Source("a.yaml", f"{text}\n"))
    assert not documents
    assert REFUSED[text] in broken.message


def test_a_document_beside_one_that_sets_an_anchor_again_is_read_once() -> None:
    documents, broken = reading.read(Source("a.yaml", "a: 1\n---\na: &x 1\nb: &x 2\n---\nc: 3\n"))
    assert not broken
    assert [document.tree for document in documents] == [{"a": 1}, {"a": 1, "b": 2}, {"c": 3}]


def test_a_key_that_is_no_string_has_its_place() -> None:
    (document,), _ = reading.read(Source("a.yaml", "data:\n  a: 1\n  on: 2\n"))
    assert document.locate(Place(document, ("data", "true"))).line == 3


def test_one_key_in_two_notations_is_a_repeated_key() -> None:
    (document,), _ = reading.read(Source("a.yaml", "1: a\n0x1: b\n"))
    assert document.tree == {"1": "b"}
    assert [place.path for place in document.repeated] == [("1",)]
