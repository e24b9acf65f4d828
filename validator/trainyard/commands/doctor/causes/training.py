"""The training: DeepSpeed, numbers, checkpoints and configurations."""

from __future__ import annotations

from trainyard.commands.doctor.cause import Cause, Sign

_NAN = r"(?i)\b(?:lm[ _]|train[ _])?loss\b[\"']?\s*[:=|]?\s*[\"']?nan\b"

CAUSES = (
    Cause(
        name="deepspeed-batch-size",
        title="the batch sizes of DeepSpeed contradict each other",
        signs=(
            Sign("Check batch related parameters"),
            Sign("train_batch_size is not equal to micro_batch_per_gpu"),
            Sign("train_micro_batch_size_per_gpu needs to be provided"),
        ),
        explanation="train_batch_size must be micro-batch times accumulation steps times ranks. A world size "
        "of 1 in the message means that the launcher did not start the ranks together.",
        remedy="Leave train_batch_size out, or correct the product; check the world size that DeepSpeed sees.",
        source="github.com/deepspeedai/DeepSpeed issue 6914",
        rules=("ds-batch-identity", "ds-batch-missing"),
    ),
    Cause(
        name="deepspeed-ssh-failed",
        title="the DeepSpeed launcher cannot reach a node by ssh",
        signs=(Sign("ssh -o PasswordAuthentication=no", r"non-zero exit status 255"),),
        explanation="The launcher logs in to each node of the host file without a password, and the first one refused.",
        remedy="Install sshd and a key in all pods, or start the ranks without ssh: torchrun, or deepspeed --no_ssh.",
        source="github.com/deepspeedai/DeepSpeed issue 4907",
    ),
    Cause(
        name="zero3-parameters-out-of-order",
        title="ZeRO-3 gets the parameters in another order than before",
        signs=(Sign("in the parameter fetch queue to be"), Sign("still have inflight params")),
        explanation="DeepSpeed records the order of the modules in the first step and fetches parameters by it. The "
        "model runs other modules later: a branch by data, experts, evaluation, or a part that is called on its own.",
        remedy="Register such modules with deepspeed.utils.set_z3_leaf_modules, set stage3_prefetch_bucket_size to 0, "
        "or use ZeRO-2.",
        source="github.com/deepspeedai/DeepSpeed issue 3599",
    ),
    Cause(
        name="loss-scale-minimum",
        title="the loss scale cannot be reduced any more",
        signs=(Sign("loss scale already at minimum"),),
        explanation="Gradients overflow in fp16 in every step: the loss has become NaN or infinite.",
        remedy="Train in bf16; else reduce the learning rate, clip gradients, and check the data.",
        source="github.com/hiyouga/LlamaFactory issue 251",
        rules=("ds-fp16-and-bf16",),
        hides=("loss-nan",),
    ),
    Cause(
        name="loss-nan",
        title="the loss is NaN",
        signs=(Sign("nan", _NAN), Sign("NaN", _NAN)),
        messages=("loss: nan",),
        explanation="The training diverged, the data has invalid values, or a GPU computes wrongly.",
        remedy="Resume from the last good checkpoint with a lower learning rate; skip the batch; test the GPUs.",
        source="docs.pytorch.org notes/amp_examples",
    ),
    Cause(
        name="checkpoint-corrupt",
        title="a checkpoint or model file is damaged",
        signs=(
            Sign("PytorchStreamReader failed reading"),
            Sign("Error while deserializing header"),
            Sign("invalid load key"),
            Sign("assert metadata is not None"),
            Sign("Unable to load weights from pytorch checkpoint file"),
            Sign("Trying to resize storage that is not resizable"),
        ),
        explanation="The file is not complete: a save or a download was interrupted.",
        remedy="Delete it and resume from the one before; write to a temporary name and rename after the save.",
        source="github.com/mosaicml/llm-foundry issue 623",
    ),
    Cause(
        name="checkpoint-mismatch",
        title="the checkpoint belongs to another model",
        signs=(
            Sign("in loading state_dict for"),
            Sign("size mismatch for", r"copying a param with shape"),
            Sign("Missing key in checkpoint state_dict"),
            Sign("in state_dict: ", r"(?:Missing|Unexpected) key\(s\) in state_dict"),
            Sign("that doesn't match the size of optimizer's group"),
            Sign("has a different number of parameter groups"),
            Sign("Size mismatch between saved"),
        ),
        messages=(
            "Error(s) in loading state_dict for",
            "size mismatch for",
            "Missing key in checkpoint state_dict",
            "that doesn't match the size of optimizer's group",
        ),
        explanation="Names or shapes differ: another configuration, vocabulary, or a wrapper around the model.",
        remedy="Load the configuration of the checkpoint, or start in an empty checkpoint folder.",
        source="docs.pytorch.org generated/torch.nn.Module: load_state_dict",
    ),
    Cause(
        name="checkpoint-world-size",
        title="another number of ranks wrote the ZeRO checkpoint",
        signs=(Sign("being loaded used a DP world size of"),),
        messages=("The checkpoint being loaded used a DP world size of ... but the current world size is",),
        explanation="DeepSpeed saves the state of the optimizer in a part for each data-parallel rank, and loads it "
        "only with the same number of ranks.",
        remedy="Start with the number of ranks that saved it. Else convert it with DeepSpeed's ds_to_universal.py and "
        "set checkpoint.load_universal in the configuration, or load the model alone (load_optimizer_states=False).",
        source="github.com/deepspeedai/DeepSpeed issue 2898",
    ),
    Cause(
        name="checkpoint-weights-only",
        title="torch.load refuses objects of a checkpoint",
        signs=(Sign("Weights only load failed"), Sign("WeightsUnpickler error")),
        hides=("checkpoint-corrupt",),
        explanation="Since PyTorch 2.6, torch.load reads tensors and plain values only unless told otherwise. "
        "Older versions of libraries save other objects.",
        remedy="Update the library that reads the file, or allow the class (torch.serialization.add_safe_globals). "
        "Pass weights_only=False only for files that you trust.",
        source="github.com/pytorch/pytorch torch/serialization.py",
    ),
    Cause(
        name="world-size-indivisible",
        title="sizes of the run cannot be divided by each other",
        signs=(
            Sign("divisible by", r"(?:Error: |AssertionError|world.?size|World size|parallel).*divisible by"),
            Sign("Mesh should not be bigger than default world size"),
        ),
        messages=("World size ... must be divisible by", "Mesh should not be bigger than default world size"),
        explanation="The number of ranks must be the product of the parallel degrees (tensor, pipeline, data, expert), "
        "and heads, layers and batches must divide by them.",
        remedy="Change the number of nodes or the degrees so that their product is the number of ranks.",
        source="github.com/huggingface/finetrainers issue 408",
    ),
    Cause(
        name="configuration-refused",
        title="the framework refuses its configuration",
        signs=(
            Sign("MisconfigurationException"),
            Sign("DeepSpeedConfigError"),
            Sign("that mismatch TrainingArguments values"),
            Sign("ConfigAttributeError"),
            Sign("ConfigKeyError"),
            Sign("pydantic", r"pydantic\S*ValidationError|validation errors? for"),
            Sign("hydra.errors."),
            Sign(
                "ValueError: ",
                r"ValueError: .*\b(?:is not compatible with|incompatible with|cannot be used (?:with|together))",
            ),
        ),
        messages=(
            "MisconfigurationException",
            "Please correct the following DeepSpeed config values that mismatch TrainingArguments values",
            "ValidationError",
        ),
        explanation="Lightning, DeepSpeed, Hydra or pydantic found options that contradict each other or that it does "
        "not know.",
        remedy="The message names the option: correct it in the configuration file or the arguments.",
        source="github.com/Lightning-AI/pytorch-lightning src/lightning/fabric/utilities/exceptions.py",
        rules=("ds-batch-identity",),
    ),
)
