"""A file with arguments of Hugging Face's Trainer has values that the Trainer refuses, so every process stops.

LLaMA-Factory, TRL and many recipes read the arguments of the Trainer from a YAML file. The same conditions hold as for
options: one of `fp16` and `bf16`, one strategy for evaluation and saving beside `load_best_model_at_end`, a known
`eval_strategy` and optimizer, whole numbers for counts.

The rule looks at files with `per_device_train_batch_size`, in ConfigMaps and beside the manifests.

Write a value that the message names, or remove one of the two.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.option_values import fits, is_told, wanted
from trainyard.analysis.launchers.trainer_conflicts import conflicts
from trainyard.analysis.pods.trainer_files import SIGN, trainer_files
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.option_forms import TRAINER
from trainyard.model.run import Command, Project


@rule(
    code="TD051",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "transformers 5.23.0 training_args.py: TrainingArguments, __post_init__; hf_argparser.py: parse_yaml_file",
        "hiyouga/LLaMA-Factory src/llamafactory/hparams/parser.py: read_args",
    ),
    needs=(SIGN,),
)
def trainer_file_refused(project: Project) -> Iterator[Problem]:
    """Report arguments in files that the Trainer refuses."""
    for command in trainer_files(project):
        for found in conflicts(command):
            yield Problem(*found)
        yield from _values(command)


def _values(command: Command) -> Iterator[Problem]:
    for word, at in zip(command.words, command.word_at, strict=True):
        name, _, value = word.partition("=")
        form = TRAINER.get(name.replace("_", "-"))
        if form is not None and is_told(value) and not fits(value, form):
            message = f"{name.removeprefix('--')} is `{value}`, which the Trainer refuses: it stops"
            yield Problem(at, message, wanted(value, form))
