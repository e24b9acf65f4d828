"""A second program stands among the arguments of a program that takes none, so the first one refuses it.

`trl vllm-serve`, `trl grpo`, `vllm serve` and `llamafactory-cli train` start no other program. In `trl vllm-serve
--model ... python train.py`, the words `python train.py` are arguments of the server: it stops with "Some specified
arguments are not used" or "unrecognized arguments", and nothing trains.

The rule looks for `python`, `torchrun`, `accelerate` and other starters with a script behind them.

Start the second program in a container of its own, or in a script behind `&`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import LLAMA_FACTORY
from trainyard.model.run import Command

# Programs, and the words behind them; an empty text is any word.
_ALONE = (("trl", ""), ("vllm", "serve"), (LLAMA_FACTORY, "train"), ("text-generation-launcher", ""))
_STARTERS = frozenset(("python", "python3", "torchrun", "accelerate", "deepspeed", "bash", "sh"))


@rule(
    code="SC061",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/trl v0.17.0 trl/cli.py: TrlParser.parse_args_and_config refuses what is left",
        "vllm-project/vllm vllm/entrypoints/cli/serve.py: one positional argument, model_tag",
        "github.com/huggingface/trl issue 3467",
    ),
    needs=("trl", "vllm", LLAMA_FACTORY, "text-generation-launcher"),
)
def second_program_in_command(command: Command) -> Iterator[Problem]:
    """Report programs among the arguments of one that starts none."""
    words = command.words
    if not any(command.program == name and (not word or word in words[1:2]) for name, word in _ALONE):
        return
    for index in range(2, len(words) - 1):
        before, after = words[index - 1], words[index + 1]
        is_value = before.startswith("-") and "=" not in before
        if words[index] in _STARTERS and not is_value and (after.endswith((".py", ".sh")) or after in ("-m", "launch")):
            shown = " ".join(words[:2] if words[1][:1] != "-" else words[:1])
            yield Problem(
                command.word_at[index],
                f"`{shown}` starts no other program, and refuses `{words[index]} {after}` among its arguments",
                "start it in a container of its own, or in a script",
            )
            return
