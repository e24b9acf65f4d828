"""Tests of the tables of options, and of the readers that write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.generate.program_options.lm_eval import lm_eval
from tools.generate.program_options.option import Option
from tools.generate.program_options.sglang import sglang
from tools.generate.program_options.table import rows
from tools.generate.program_options.vllm import vllm
from trainyard.facts.programs.option_tables import PROGRAMS, release, table

TABLES = sorted({program.table for program in PROGRAMS} | {other for program in PROGRAMS for other in program.others})


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_consistent(name: str) -> None:
    found = table(name)
    assert list(found.releases) == sorted(found.releases)
    for option, forms in found.options.items():
        assert option.startswith("-")
        for form in forms:
            assert form.takes in ("b", "o", "v", "c", "n", "?", "*"), option
            assert bool(form.words) == (form.takes == "c"), option
            assert all(first is None or last is None or first <= last for first, last in form.ranges), option


@pytest.mark.parametrize("name", [one for one in TABLES if one not in ("trl", "llama")])
def test_an_option_has_one_form_in_each_release(name: str) -> None:
    found = table(name)
    for one in found.releases:
        for option, forms in found.options.items():
            assert sum(form.is_in(one) for form in forms) <= 1, (option, one)


def test_a_release_has_four_numbers() -> None:
    assert release("0.4.9.post2") == (0, 4, 9, 2)
    assert release("23.04") == (23, 4, 0, 0)


def _write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_the_reader_of_vllm_follows_the_types_of_configurations(tmp_path: Path) -> None:
    _write(
        tmp_path,
        "vllm/config/model.py",
        "Kind = Literal['auto', 'half']\n"
        "class ModelConfig:\n    dtype: Kind | torch.dtype = 'auto'\n    quick: bool = False\n"
        "    names: list[str] = None\n    parser: Literal['a'] | str = 'a'\n",
    )
    _write(
        tmp_path,
        "vllm/engine/arg_utils.py",
        "class EngineArgs:\n    def add_cli_args(parser):\n"
        "        model_kwargs = get_kwargs(ModelConfig)\n        group = parser.add_argument_group()\n"
        "        group.add_argument('--dtype', **model_kwargs['dtype'])\n"
        "        group.add_argument('--quick', **model_kwargs['quick'])\n"
        "        group.add_argument('--names', '-n', **model_kwargs['names'])\n"
        "        group.add_argument('--parser', **model_kwargs['parser'])\n"
        "        group.add_argument('--eager', action='store_true')\n",
    )
    _write(
        tmp_path,
        "vllm/entrypoints/openai/cli_args.py",
        "class FrontendArgs:\n    host: str | None = None\n    ssl_refresh: bool = False\n"
        "    level: Literal['info', 'debug'] = 'info'\n",
    )
    _write(tmp_path, "vllm/entrypoints/api_server.py", "parser.add_argument('--host', type=str)\n")
    found = vllm(tmp_path)
    assert found["--dtype"] == Option("c", ("auto", "half"))
    assert found["--quick"].takes == "o"
    assert found["--names"].takes == found["-n"].takes == "n"
    assert found["--parser"].takes == "v"
    assert found["--eager"].takes == "b"
    assert found["--host"] == Option("v")
    assert found["--ssl-refresh"] == Option("o", (), "openai")
    assert found["--level"] == Option("c", ("debug", "info"), "openai")


def test_the_reader_of_sglang_follows_annotations_and_calls(tmp_path: Path) -> None:
    _write(
        tmp_path,
        "sglang/srt/server_args.py",
        "CHOICES = ['auto', 'pt']\n"
        "class ServerArgs:\n"
        "    model_path: A[str, Arg(help='', aliases=['--model'])]\n"
        "    load_format: A[str, Arg(help='', choices=CHOICES)] = 'auto'\n"
        "    hidden: A[str, Arg(no_cli=True)] = ''\n"
        "    fast: A[bool, 'help'] = False\n"
        "    old: int = 0\n"
        "    def add_cli_args(parser):\n"
        "        parser.add_argument('--tp', '--tp-size', type=int)\n"
        "        parser.add_argument('--legacy', action=DeprecatedAction, nargs=0)\n",
    )
    found = sglang(tmp_path)
    assert found["--model"] == found["--model-path"] == Option("v")
    assert found["--load-format"] == Option("c", ("auto", "pt"))
    assert found["--fast"].takes == "b"
    assert found["--tp"].takes == "v"
    assert found["--legacy"].takes == "b"
    assert "--hidden" not in found
    assert "--old" not in found


def test_the_reader_of_lm_eval_reads_calls(tmp_path: Path) -> None:
    _write(tmp_path, "lm_eval/__main__.py", "parser.add_argument('--tasks', '-t', default=None, type=str)\n")
    assert lm_eval(tmp_path) == {"--tasks": Option("v"), "-t": Option("v")}


def test_rows_hold_ranges_of_releases() -> None:
    one, other = Option("b"), Option("v")
    read = [("1.0", {"--a": one}), ("1.1", {"--a": one, "--b": one}), ("1.2", {"--a": other, "--b": one})]
    assert list(rows(read)) == [
        ("--a", "b", "", "", "-1.1"),
        ("--a", "v", "", "", "1.2-"),
        ("--b", "b", "", "", "1.1-"),
    ]
