"""Megatron-LM refuses arguments that contradict each other, or that it has no longer, so every process stops.

`validate_args` asserts that a run is counted in iterations or in samples, that `--max-position-embeddings` covers
`--seq-length`, and that the experts are a multiple of the expert-parallel size. The groups of queries
(`--num-query-groups`) are a multiple or a divisor of the tensor parallel size. `--overlap-param-gather` needs
`--use-distributed-optimizer` and `--overlap-grad-reduce`. `--tp-comm-overlap` needs `--sequence-parallel`. Selective
recomputation has no `--recompute-method`. Virtual stages (`--num-layers-per-virtual-pipeline-stage`) need more than one
pipeline stage.

Each type of tokenizer reads its own files: GPT2BPETokenizer reads `--vocab-file` and `--merge-file`, and ignores
`--tokenizer-model`. Llama2Tokenizer and HuggingFaceTokenizer read `--tokenizer-model`.

Options of former releases have other names: `--activations-checkpoint-method` is `--recompute-method` since April 2022,
and `--checkpoint-activations` is `--recompute-activations`. The rule reports them beside an option that only later
releases have. It leaves out Megatron-DeepSpeed, which kept some of them.

The rule checks commands that start a `pretrain_*.py`, with the options in arrays of a script. It looks for a missing
option only if the files show all options.

Write what the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.megatron import is_repeated, megatron_command, shows_all_options, size_of
from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Command, Container

# The former name and the present one. The parser does not know the first group, and asserts that the second is absent.
_FORMER = {
    "--activations-checkpoint-method": "--recompute-method",
    "--activations-checkpoint-num-layers": "--recompute-num-layers",
    "--distribute-checkpointed-activations": "--distribute-saved-activations",
    "--checkpoint-activations": "--recompute-activations",
    "--model-parallel-size": "--tensor-model-parallel-size",
    "--batch-size": "--micro-batch-size",
    "--warmup": "--lr-warmup-fraction",
}
# These came with `--recompute-method` or later, so a release that has one of them lacks the former names.
_LATER = frozenset((
    "--sequence-parallel", "--recompute-method", "--recompute-granularity", "--recompute-activations",
    "--recompute-num-layers", "--distribute-saved-activations", "--use-mcore-models", "--transformer-impl",
    "--context-parallel-size", "--expert-model-parallel-size", "--group-query-attention", "--overlap-grad-reduce",
    "--overlap-param-gather", "--ckpt-format", "--use-dist-ckpt", "--attention-backend", "--moe-router-topk",
))  # fmt: skip
# Of each pair, a run has one.
_EITHER = (
    ("--train-iters", "--train-samples"),
    ("--train-iters", "--lr-warmup-samples"),
    ("--train-iters", "--lr-decay-samples"),
    ("--lr-warmup-fraction", "--lr-warmup-iters"),
    ("--fp16", "--bf16"),
)
# An option, and those without which Megatron stops: one of each group.
_OF_OPTIMIZER = ("--use-distributed-optimizer", "--use-megatron-fsdp", "--use-custom-fsdp", "--optimizer")
_NEEDS = (
    ("--overlap-param-gather", (_OF_OPTIMIZER, ("--overlap-grad-reduce",))),
    ("--tp-comm-overlap", (("--sequence-parallel",),)),
)
# Types of tokenizers that read `--vocab-file`, and those that read `--tokenizer-model`.
_OF_VOCABULARY = frozenset(("GPT2BPETokenizer", "BertWordPieceLowerCase", "BertWordPieceCase"))
_OF_MODEL = frozenset((
    "HuggingFaceTokenizer", "Llama2Tokenizer", "SentencePieceTokenizer", "GPTSentencePieceTokenizer", "TikTokenizer",
))  # fmt: skip
_TYPE, _MODEL, _VOCABULARY = "--tokenizer-type", "--tokenizer-model", "--vocab-file"
# A checkpoint or a file of metadata may name the tokenizer.
_ELSEWHERE = ("--use-checkpoint-args", "--metadata-path", "--tokenizer-metadata", _VOCABULARY)
_STAGES, _LAYERS = "--pipeline-model-parallel-size", "--num-layers"
_OF_STAGE, _STAGES_OF_RANK = "--num-layers-per-virtual-pipeline-stage", "--num-virtual-stages-per-pipeline-rank"
_SEQUENCE, _POSITIONS = "--seq-length", "--max-position-embeddings"
_EXPERTS, _EXPERT_PARALLEL = "--num-experts", "--expert-model-parallel-size"
_GROUPS, _TENSOR = "--num-query-groups", "--tensor-model-parallel-size"


@rule(
    code="TD071",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/Megatron-LM d98e8a64 megatron/training/arguments.py: validate_args",
        "NVIDIA/Megatron-LM cfd2e216: --sequence-parallel, and the names of recomputation",
        "NVIDIA/Megatron-LM d98e8a64 megatron/training/arguments.py lines 953-1008, core_v0.12.0 line 432: stages",
        "NVIDIA/Megatron-LM core_v0.12.0 megatron/training/tokenizer/tokenizer.py: build_tokenizer; d98e8a64 "
        "megatron/core/tokenizers/utils/build_tokenizer.py lines 37-94",
        "NVIDIA/Megatron-LM megatron/core/transformer/transformer_config.py: __post_init__, num_query_groups",
        "github.com/NVIDIA/Megatron-LM issues 394, 958 and 1431, pull requests 5768 and 6434",
    ),
    needs=("pretrain_",),
)
def megatron_arguments_refused(container: Container) -> Iterator[Problem]:
    """Report arguments that Megatron-LM refuses."""
    command = megatron_command(container)
    if command is None or any("deepspeed" in word.lower() for word in command.words):
        return
    yield from _former(command)
    yield from _both(command)
    yield from _sizes(command, container)
    is_whole = shows_all_options(command, container)
    yield from _stages(command, container, is_whole)
    if is_whole:
        yield from _without(command)
        yield from _tokenizer(command)


def _former(command: Command) -> Iterator[Problem]:
    later = command.given(_LATER)
    for name in command.given(_FORMER.keys()) if later else []:
        message = f"Megatron-LM with {later[0]} has no {name} any more: every process stops"
        yield Problem(_place(command, name), message, f"write {_FORMER[name]}")


def _both(command: Command) -> Iterator[Problem]:
    for one, other in _EITHER:
        # A warmup of 0 is none.
        told = command.has(one) and command.has(other) and "0" not in (command.option(one), command.option(other))
        if told and not is_repeated(command, one, other):
            message = f"Megatron-LM takes one of {one} and {other}, and stops with both"
            yield Problem(_place(command, other), message, "remove one")
    if command.option("--recompute-granularity") == "selective" and command.has("--recompute-method"):
        message = "selective recomputation has no --recompute-method: Megatron-LM stops"
        yield Problem(_place(command, "--recompute-method"), message, "remove it, or write `full` as the granularity")


def _sizes(command: Command, container: Container) -> Iterator[Problem]:
    if is_repeated(command, _SEQUENCE, _POSITIONS, _EXPERTS, _EXPERT_PARALLEL):
        return
    length, positions = size_of(command, container, _SEQUENCE), size_of(command, container, _POSITIONS)
    if length is not None and positions is not None and positions[0] < length[0]:
        message = f"{positions[0]} positions are fewer than the sequence of {length[0]} tokens: Megatron-LM stops"
        yield Problem(positions[1], message, f"write at least {length[0]}")
    experts, parallel = size_of(command, container, _EXPERTS), size_of(command, container, _EXPERT_PARALLEL)
    if experts is not None and parallel is not None and experts[0] % parallel[0]:
        message = (
            f"{experts[0]} experts are not a multiple of the expert-parallel size {parallel[0]}: Megatron-LM stops"
        )
        yield Problem(parallel[1], message, "write a size that divides the experts")
    yield from _groups(command, container)


def _groups(command: Command, container: Container) -> Iterator[Problem]:
    if is_repeated(command, _GROUPS, _TENSOR) or not command.has("--group-query-attention"):
        return
    groups, tensor = size_of(command, container, _GROUPS), size_of(command, container, _TENSOR)
    if groups is not None and tensor is not None and groups[0] % tensor[0] and tensor[0] % groups[0]:
        told = f"{_GROUPS} {groups[0]} is neither a multiple nor a divisor of the tensor parallel size {tensor[0]}"
        yield Problem(groups[1], f"{told}: Megatron-LM stops", "write a size that divides the groups")


def _stages(command: Command, container: Container, is_whole: bool) -> Iterator[Problem]:
    if is_repeated(command, _STAGES, _OF_STAGE, _STAGES_OF_RANK):
        return
    stages, layers = size_of(command, container, _STAGES), size_of(command, container, _LAYERS)
    one = stages[0] == 1 if stages is not None else is_whole and not command.has(_STAGES)
    for name, none in ((_OF_STAGE, layers), (_STAGES_OF_RANK, (1, command.at))):
        found = size_of(command, container, name)
        # One virtual stage with all layers is none.
        if one and found is not None and (none is None or found[0] != none[0]):
            message = f"{name} needs several pipeline stages, and the run has one: Megatron-LM stops"
            yield Problem(found[1], message, f"remove it, or raise {_STAGES}")


def _tokenizer(command: Command) -> Iterator[Problem]:
    kind = command.option_at(_TYPE)
    if kind is None or is_repeated(command, _TYPE):
        return
    if kind[0] in _OF_VOCABULARY and command.has(_MODEL) and not command.has(_VOCABULARY):
        message = f"{kind[0]} reads {_VOCABULARY} and no {_MODEL}: Megatron-LM stops, or takes a vocabulary of its own"
        help_ = f"write --vocab-file and --merge-file, or a {_TYPE} that reads the model"
        yield Problem(_place(command, _MODEL), message, help_)
    elif kind[0] in _OF_MODEL and not command.has(_MODEL, *_ELSEWHERE):
        yield Problem(kind[1], f"{kind[0]} needs {_MODEL}: Megatron-LM stops without it", f"add {_MODEL}")


def _without(command: Command) -> Iterator[Problem]:
    for name, groups in _NEEDS:
        missing = next((group[0] for group in groups if not command.has(*group)), None)
        if command.has(name) and missing is not None:
            message = f"{name} needs {missing}: Megatron-LM stops without it"
            yield Problem(_place(command, name), message, f"add {missing}")


def _place(command: Command, name: str) -> Place:
    """Returns the place of an option."""
    at = (place for word, place in zip(command.words, command.word_at, strict=True) if _name(word) == name)
    return next(at, command.at)


def _name(word: str) -> str:
    return word.partition("=")[0].replace("_", "-")
