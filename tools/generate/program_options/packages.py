"""The programs with a table, and the releases that are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tools.generate.program_options.hugging_face import trainer, trl
from tools.generate.program_options.lm_eval import lm_eval
from tools.generate.program_options.option import Options
from tools.generate.program_options.sglang import sglang
from tools.generate.program_options.vllm import vllm


class Package(NamedTuple):
    """A program: its table, its package on PyPI, the releases, and the function that reads one.

    `is_wheel` is true if it has wheels of Python code alone.
    """

    table: str
    name: str
    releases: tuple[str, ...]
    read: Callable[[Path], Options]
    is_wheel: bool = True


_VLLM = """
0.3.3 0.4.3 0.5.5 0.6.0 0.6.2 0.6.3 0.6.6 0.7.0 0.7.3 0.8.0 0.8.3 0.8.5 0.9.0 0.9.2 0.10.0 0.10.1 0.10.2 0.11.0 0.11.2
0.12.0 0.13.0 0.14.0 0.16.0 0.17.0 0.18.0 0.19.0 0.20.0 0.21.0 0.22.0 0.23.0 0.24.0 0.25.0 0.26.0 0.27.0 0.28.0 0.29.0
0.30.0 0.31.0 0.32.0 0.33.0
"""
_SGLANG = """
0.3.0 0.3.6 0.4.0 0.4.2 0.4.3.post4 0.4.4.post3 0.4.5 0.4.6 0.4.6.post5 0.4.7 0.4.8 0.4.9.post2 0.4.10 0.5.1 0.5.2
0.5.3 0.5.4 0.5.5 0.5.5.post3 0.5.6 0.5.7 0.5.8 0.5.9 0.5.10 0.5.12 0.5.14 0.5.16 0.5.18 0.5.20 0.5.23
"""
_LM_EVAL = """
0.4.1 0.4.2 0.4.3 0.4.4 0.4.5 0.4.7 0.4.8 0.4.9 0.4.10 0.4.13
"""
_TRL = """
0.12.0 0.13.0 0.14.0 0.15.0 0.16.0 0.17.0 0.18.0 0.19.0 0.20.0 0.21.0 0.22.0 0.23.0 0.24.0 0.25.0 0.26.0 0.27.0 0.28.0
0.29.0 1.0.0 1.5.0 1.10.0 1.16.0
"""
_TRANSFORMERS = """
4.38.0 4.41.0 4.46.1 4.51.0 4.57.1 5.0.0 5.2.0 5.10.1 5.24.0
"""
PACKAGES = (
    Package("vllm", "vllm", tuple(_VLLM.split()), vllm, is_wheel=False),
    Package("sglang", "sglang", tuple(_SGLANG.split()), sglang),
    Package("lm_eval", "lm-eval", tuple(_LM_EVAL.split()), lm_eval),
    Package("trl", "trl", tuple(_TRL.split()), trl),
    Package("trainer", "transformers", tuple(_TRANSFORMERS.split()), trainer),
)
