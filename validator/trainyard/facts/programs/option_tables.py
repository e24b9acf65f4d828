"""Programs that users start in pods, with the options of each of their releases.

The tables are in `*_options.csv` beside this file. Those of Python programs are written by `python -m tools.generate
options`, from the packages on PyPI: vllm (engine/arg_utils.py, config, cli_args.py, the registries of parsers), sglang
(srt/server_args.py, srt/arg_groups), lm-eval (__main__.py, _cli/run.py), trl (trainer/*_config.py, scripts) and
transformers (training_args.py). The others were read from the tags of huggingface/text-generation-inference
(launcher/src/main.rs) and of triton-inference-server/server (src/command_line_parser.cc, before it src/main.cc). That
of llama-server is from ggml-org/llama.cpp 00dc8057 (tools/server/README.md), with the changes of pull requests 5882,
12898 and 15434; other former options may lack.

How the programs read words: Python argparse (a unique beginning of a long option stands for it; a word with a space and
no known beginning is no option); vLLM's FlexibleArgumentParser (vllm/utils/argparse_utils.py: `_` is `-`, `--a.b` sets
a part of `--a`); transformers hf_argparser.py (both `_` and `-`); clap 4 (exact names, each once); getopt_long(3);
llama.cpp common/arg.cpp (`_` is `-`, and a value is a word of its own).
"""

from __future__ import annotations

import functools
import os

from trainyard.facts.programs.launchers import BY_NAME
from trainyard.startup import NamedTuple

Release = tuple[int, ...]
Range = tuple[Release | None, Release | None]


class Option(NamedTuple):
    """A form of an option in some releases, or in all if there are no ranges.

    `takes` is "b" for a switch, "o" for one with a form `--no-x`, "v" for a value, "c" for one of `words`, "n" for one
    or more values, "?" for an optional value, and "*" for any number of them. `part` names the parts of the program
    that alone have the option.
    """

    takes: str
    words: tuple[str, ...]
    part: str
    ranges: tuple[Range, ...]

    def is_in(self, release: Release) -> bool:
        """Returns true if a release has this form."""
        return not self.ranges or any(
            (first is None or release >= first) and (last is None or release <= last) for first, last in self.ranges
        )


class Table(NamedTuple):
    """The options of a program by their names, and the releases that were read."""

    releases: tuple[Release, ...]
    options: dict[str, tuple[Option, ...]]


class Program(NamedTuple):
    """A program, and how it reads words.

    `commands` are the first words of its commands, and `modules` start it with `python -m`. `images` start it if a
    container names no command and `starts` is true. `package` is its name on PyPI. `style` is "argparse", "clap",
    "getopt" or "llama". With `is_dashed`, `_` and `-` are the same in names. `has_parts` is true if `--a.b` belongs to
    `--a`. `positionals` is the number of words that are no options; None if it is not known. `part` is the part of the
    table. `extra` are further options, with dashes, and `others` the tables of further ones, of any release. No word of
    `unlike` follows the program. With `is_steady`, later builds of a release have its options. Words that begin with
    one of `prefixes` are read in a way of their own.
    """

    title: str
    table: str
    package: str
    commands: tuple[tuple[str, ...], ...]
    modules: tuple[str, ...]
    images: tuple[str, ...]
    starts: bool = False
    style: str = "argparse"
    is_dashed: bool = False
    has_parts: bool = False
    positionals: int | None = None
    refused: str = "unrecognized arguments"
    part: str = ""
    extra: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    is_steady: bool = False
    prefixes: tuple[str, ...] = ()


_VLLM_IMAGES = ("vllm/vllm-openai", "vllm/vllm-openai-cpu", "vllm/vllm-openai-rocm")
_SGLANG_IMAGES = ("lmsysorg/sglang",)
# The commands of TRL take a file, and the options of `accelerate launch`.
_ACCELERATE = BY_NAME["accelerate"]
_TRL_EXTRA = ("--config", "--accelerate-config", *_ACCELERATE.valued, *_ACCELERATE.flags)
_TGI = "text-generation-launcher"
PROGRAMS = (
    Program(
        "vLLM", "vllm", "vllm", (("vllm", "serve"),), ("vllm.entrypoints.openai.api_server",), _VLLM_IMAGES,
        starts=True, is_dashed=True, has_parts=True, positionals=1, part="openai", is_steady=True, prefixes=("-O",),
    ),
    Program(
        "the plain server of vLLM", "vllm", "vllm", (), ("vllm.entrypoints.api_server",), _VLLM_IMAGES,
        is_dashed=True, has_parts=True, part="plain", is_steady=True, prefixes=("-O",),
    ),
    Program("SGLang", "sglang", "sglang", (), ("sglang.launch_server",), _SGLANG_IMAGES, positionals=0),
    Program(
        "lm_eval", "lm_eval", "lm_eval", (("lm_eval", "run"), ("lm-eval", "run"), ("lm_eval",), ("lm-eval",)),
        ("lm_eval",), (), positionals=0, unlike=("ls", "validate"),
    ),
    *(
        Program(
            f"`trl {command}`", "trl", "trl", (("trl", command),), (), (), is_dashed=True, part=command,
            refused="arguments that are not used", extra=_TRL_EXTRA, others=("trainer",),
        )
        for command in ("sft", "dpo", "grpo", "kto", "reward", "rloo")
    ),
    Program(
        "Text Generation Inference", "tgi", "", ((_TGI,),), (), ("huggingface/text-generation-inference",),
        starts=True, style="clap", positionals=0, refused="unexpected argument",
    ),
    Program(
        "tritonserver", "tritonserver", "", (("tritonserver",),), (), ("nvidia/tritonserver",), style="getopt",
        refused="unrecognized option",
    ),
    Program(
        "llama-server", "llama", "", (("llama-server",),), (), ("ggml-org/llama.cpp", "ggerganov/llama.cpp"),
        starts=True, style="llama", is_dashed=True, refused="invalid argument",
    ),
)  # fmt: skip
# A file without any of these words has no such program.
WORDS = (
    "vllm",
    "sglang",
    "lm_eval",
    "lm-eval",
    "trl",
    _TGI,
    "text-generation-inference",
    "tritonserver",
    "llama-server",
    "llama.cpp",
)


@functools.cache
def table(name: str) -> Table:
    """Returns the table of a program."""
    import csv

    path = os.path.join(os.path.dirname(__file__), f"{name}_options.csv")
    options: dict[str, list[Option]] = {}
    with open(path, encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines)
        next(rows)
        releases = tuple(map(release, next(rows)[-1].split()))
        for option, takes, words, part, ranges in rows:
            told = Option(takes, tuple(words.split("|")) if words else (), part, tuple(map(_range, ranges.split())))
            options.setdefault(option, []).append(told)
    return Table(releases, {option: tuple(forms) for option, forms in options.items()})


def _range(text: str) -> Range:
    first, _, last = text.partition("-")
    return (release(first) if first else None), (release(last) if last else None)


def release(text: str) -> Release:
    """Returns a release as four numbers: 0.4.9.post2 is (0, 4, 9, 2)."""
    plain, _, post = text.partition(".post")
    numbers = [int(part) for part in plain.split(".")]
    return (*numbers, *(0,) * (3 - len(numbers)), int(post or 0))
