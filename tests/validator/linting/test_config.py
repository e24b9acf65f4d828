"""The configuration file: its keys, and the errors for its mistakes."""

from __future__ import annotations

import time
from pathlib import Path

import jsonschema
import pytest
import yaml

from trainyard.engine import registry
from trainyard.engine.rule import Target
from trainyard.linting import config, config_schema, discovery
from trainyard.linting.config import Config, ConfigError

FULL = """\
target: {nccl: "2.21", torch: v2.7.1+cu128, trainer: 2, kubernetes: "1.33"}
profile: eks-efa
site: sites/eks.yaml
select: [NC, DS]
ignore: nccl-word-boolean
pedantic: true
auditor: false
rules:
  nccl-word-boolean: {}
  SH008: {gib-per-gpu: 2}
allow:
- rule: NC005
  path: legacy/*
  reason: our wrapper reads words
known-networks: [rdma-a, other/rdma-b]
exclude: [vendor]
respect-gitignore: false
fail-on: error
min-severity: warning
exit-zero: true
"""


def load(text: str, folder: Path, name: str = ".trainyard.yaml") -> Config:
    path = folder / name
    path.write_text(text)
    return config.load_config(str(path))


def test_every_key_is_read(tmp_path: Path) -> None:
    known = load(FULL.replace("  nccl-word-boolean: {}\n", ""), tmp_path)
    assert known.target == Target((2, 21), (2, 7, 1), (2,), (1, 33))
    assert (known.profile, known.select, known.ignore) == ("eks-efa", ("NC", "DS"), ("nccl-word-boolean",))
    assert (known.persona, known.known_networks, known.exclude) == ("pedantic", ("rdma-a", "other/rdma-b"), ("vendor",))
    assert known.site == str(tmp_path / "sites/eks.yaml")
    assert known.allow[0].covers("legacy/run.yaml")
    assert not known.allow[0].covers("run.yaml")
    assert (known.allow[0].rule, known.allow[0].reason) == ("NC005", "our wrapper reads words")
    assert (known.fail_on, known.min_severity, known.exit_zero) == ("error", "warning", True)
    assert not known.respect_gitignore
    parameters = known.parameters_of(registry.rules())
    assert parameters["SH008"].gib_per_gpu == 2
    assert parameters["NT013"].known_networks == ("rdma-a", "other/rdma-b")


def test_pyproject_has_the_same_keys(tmp_path: Path) -> None:
    text = '[tool.trainyard]\nselect = ["NC"]\n[tool.trainyard.target]\nnccl = "2.21"\n[tool.ruff]\nx = 1\n'
    known = load(text, tmp_path, "pyproject.toml")
    assert (known.select, known.target.nccl) == (("NC",), (2, 21))


def test_an_empty_file_sets_nothing(tmp_path: Path) -> None:
    for name in (".trainyard.yaml", "pyproject.toml"):
        assert load("# nothing yet\n", tmp_path, name)._replace(path=None) == Config()


def test_the_defaults_follow_gitignore_and_fail_on_every_finding(tmp_path: Path) -> None:
    known = load("{}\n", tmp_path)
    assert known.respect_gitignore
    assert (known.persona, known.fail_on, known.min_severity, known.exit_zero) == ("regular", "info", "info", False)


@pytest.mark.parametrize("name", ["trainyard.yml", "trainyard.conf", "trainyard", "ci.json"])
def test_a_file_with_another_suffix_than_toml_is_yaml(name: str, tmp_path: Path) -> None:
    assert load('{"select": ["NC"]}\n', tmp_path, name).select == ("NC",)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("2.21.5", (2, 21, 5)),
        ("v1.33", (1, 33)),
        (" 2.7.1+cu128 ", (2, 7, 1)),
        ("2.x.5", (2,)),
        ("1.33-eks.4", (1, 33)),
        ("2.8.0a0+git.5", (2, 8, 0)),
        ("2.5.1rc1", (2, 5, 1)),
    ],
)
def test_a_version_ends_behind_the_first_part_with_more_than_a_number(text: str, numbers: tuple[int, ...]) -> None:
    assert config.parse_version(text, "--target") == numbers


def test_an_entry_that_allows_a_rule_may_leave_out_its_path_and_its_reason(tmp_path: Path) -> None:
    (allowance,) = load("allow:\n- rule: NC005\n", tmp_path).allow
    assert allowance.covers("k8s/any/run.yaml")
    assert allowance.reason == ""


def test_the_nearest_file_is_used_and_none_above_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / "repository/a/b"
    inner.mkdir(parents=True)
    (tmp_path / ".trainyard.yaml").write_text("")
    assert discovery.discover(str(inner)).path == str(tmp_path / ".trainyard.yaml")
    (tmp_path / "repository/.git").mkdir()
    assert discovery.discover(str(inner)).path is None
    (tmp_path / "repository/pyproject.toml").write_text("[tool.ruff]\n")
    assert discovery.discover(str(inner)).path is None
    (tmp_path / "repository/pyproject.toml").write_text("[tool.trainyard]\n")
    assert discovery.discover(str(inner)).path == str(tmp_path / "repository/pyproject.toml")


MISTAKES = {
    "target: {ncl: '2.21'}": "target.ncl: there is no target `ncl`; did you mean `nccl`?",
    "target: {nccl: 2.20}": "target.nccl: put the version in quotes: 2.20 without them is the number 2.2",
    "target: {nccl: latest}": "target.nccl: `latest` is not a version; write one such as 2.21",
    "target: {nccl: [2]}": "target.nccl: write a version, not `[2]`",
    "target: nccl": "target: write a mapping",
    "profile: eks": "profile: there is no profile `eks`; did you mean `eks-efa`?",
    "profile: zzz": "profile: there is no profile `zzz`; there are ",
    "target: {zzz: '1'}": "target.zzz: there is no target `zzz`; write one of nccl, ",
    "fail-on: warn": "fail-on: there is no severity `warn`; did you mean `warning`?",
    "min-severity: zzz": "min-severity: there is no severity `zzz`; write one of ",
    "zzz: 1": "zzz: there is no such key; write one of target, profile, ",
    "site: [a]": "site: write a string",
    "profile: 1": "profile: write a string, not `1`",
    "pedantic: maybe": 'pedantic: write true or false, not `"maybe"`',
    "ignores: [NC]": "ignores: there is no such key; did you mean `ignore`?",
    "knwon_networks: [a]": "knwon_networks: there is no such key; did you mean `known-networks`?",
    "known-networks: rdma": 'known-networks: write a list of strings, not `"rdma"`',
    "select: [nccl-word]": "select: no rule has the code or name `nccl-word`, nor a code that starts with it; did you",
    "select: [1]": "select: write a list of strings, not `[1]`",
    "rules: {SH999: {}}": "rules.SH999: there is no rule `SH999`",
    "rules: {NC005: {a: 1}}": "rules.NC005: this rule has no parameters",
    "rules: {SH008: {gib: 1}}": "rules.SH008.gib: there is no such key; write one of gib-per-gpu",
    "rules: {SH008: {gib-per-gpu: much}}": "rules.SH008.gib-per-gpu: write a number; the default is 0.25",
    "rules: {NT013: {known-networks: a}}": "rules.NT013.known-networks: write a list of strings",
    "allow: NC005": "allow: write a list of entries",
    "allow: [{path: a, reason: b}]": "allow[0].rule: write a string, not nothing",
    "allow: [{rule: a, paths: b}]": "allow[0].paths: there is no such key; did you mean `path`?",
    "- a": ".trainyard.yaml: write a mapping",
    "a: [": ".trainyard.yaml:2:1: did not find expected node content",
    "a: b: c\n---\na: [": ".trainyard.yaml:1:5: mapping values are not allowed",
    "pedantic: true\n---\nauditor: true": ".trainyard.yaml: write one document, without `---` between",
    f"pedantic: {'y' * 57}": f'pedantic: write true or false, not `"{"y" * 54}...`',
    f"pedantic: {'y' * 56}": f'pedantic: write true or false, not `"{"y" * 54}...`',
    f"pedantic: {'y' * 55}": f'pedantic: write true or false, not `"{"y" * 55}"`',
}


@pytest.mark.parametrize("text", MISTAKES)
def test_the_error_for_a_mistake_names_the_key_and_the_remedy(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load(text, tmp_path)
    assert MISTAKES[text] in str(error.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{'a.' * 20_000}a = 1", "a key has more than 100 parts"),
        (f"a = {{{'a . ' * 20_000}a = 1}}", "a key has more than 100 parts"),
        (f"a = {'[' * 50_000}{']' * 50_000}", "nested too deeply"),
        (f"a = {'9' * 5000}", "a number has too many digits"),
    ],
    ids=["a long key", "a long key in a table", "nested lists", "a long number"],
)
def test_hostile_toml_is_refused_in_time(tmp_path: Path, line: str, message: str) -> None:
    begun = time.process_time()
    with pytest.raises(ConfigError, match=rf"pyproject\.toml: .*{message}"):
        load(f"[tool.trainyard]\n{line}\n", tmp_path, "pyproject.toml")
    assert time.process_time() - begun < 1


def test_a_key_of_toml_may_have_a_hundred_parts(tmp_path: Path) -> None:
    text = "[tool.trainyard]\nselect = ['NC']\n[tool.other]\n{} = 1\n"
    assert load(text.format(".".join("a" * 100)), tmp_path, "pyproject.toml").select == ("NC",)
    for count in (101, 102):
        with pytest.raises(ConfigError, match="a key has more than 100 parts"):
            load(text.format(".".join("a" * count)), tmp_path, "pyproject.toml")


@pytest.mark.parametrize("text", ["tool = 1", "[tool]\ntrainyard = 1"])
def test_toml_without_the_tables_of_the_tool_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"pyproject\.toml: "):
        load(f"{text}\n", tmp_path, "pyproject.toml")


@pytest.mark.parametrize(
    ("root", "remedy"),
    [(None, "name a .trainyard.yaml, or leave out --config"), (".", "`--config FILE` names another one")],
    ids=["named by the user", "found in the folder"],
)
def test_a_file_that_cannot_be_read_has_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str | None, remedy: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        config.load_config(".trainyard.yaml", root)
    assert str(caught.value).endswith(f"; {remedy}")


def test_broken_toml_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"pyproject\.toml: "):
        load("[tool.trainyard", tmp_path, "pyproject.toml")


def test_the_schema_accepts_and_rejects_the_same_configurations() -> None:
    validator = jsonschema.Draft202012Validator(config_schema.configuration_schema())
    validator.validate(yaml.safe_load(FULL.replace("  nccl-word-boolean: {}\n", "")))
    for text in MISTAKES:
        # The schema does not list versions, nor rule names where prefixes are allowed too.
        if (
            "a: [" not in text
            and "---" not in text
            and text not in ("target: {nccl: latest}", "select: [nccl-word]")
            and "reason" not in text
        ):
            assert not validator.is_valid(yaml.safe_load(text)), text
