"""Each strategy and precision: the loss falls, and agrees with one GPU in fp32."""

from __future__ import annotations

from tools.gpu import training
from tools.gpu.check import Check, Measured
from tools.gpu.errors import CheckFailedError
from tools.gpu.session import Session

STEPS = 12
# On processors the strategies agree to 6e-7. GPUs add in another order for another batch per rank.
CLOSE = 1e-3
# bf16 has 8 bits of precision, 0.4 %, and the differences of twelve steps add up.
ROUGH = 0.05


def one_gpu(session: Session) -> Measured:
    """Trains on one GPU in fp32."""
    losses = _reference(session)
    return {"first_loss": losses[0], "last_loss": losses[-1], "steps": len(losses)}


def agree(session: Session, *flags: str, ranks: int, tolerance: float) -> Measured:
    """Trains with these flags, and compares the loss of each step with that of one GPU."""
    expected = _reference(session)
    losses = training.begin(session, "run", f"--steps={STEPS}", *flags, ranks=ranks).losses()
    if len(losses) != len(expected):
        raise CheckFailedError(f"the run has {len(losses)} steps, and that on one GPU {len(expected)}")
    deviation = max(abs(ours - other) / other for ours, other in zip(losses, expected, strict=True))
    if deviation > tolerance:
        raise CheckFailedError(f"a loss differs from that on one GPU by {deviation:.2g} of it: at most {tolerance:g}")
    return {"ranks": ranks, "deviation": deviation, "last_loss": losses[-1]}


def falls(session: Session, *flags: str) -> Measured:
    """Trains with these flags on all GPUs."""
    losses = training.begin(session, "run", f"--steps={STEPS}", *flags, ranks=session.machine.ranks).losses()
    return {"ranks": session.machine.ranks, "first_loss": losses[0], "last_loss": losses[-1]}


def _reference(session: Session) -> list[float]:
    if "reference" not in session.shared:
        run = training.begin(session, "reference", f"--steps={STEPS}", ranks=1)
        session.shared["reference"] = run.losses()
    return session.shared["reference"]


def _strategy(name: str, *flags: str, gpus: int = 1, packages: tuple[str, ...] = (), rehearsed: bool = False) -> Check:
    return Check(
        name=name,
        what=f"{STEPS} steps on all GPUs in fp32: {' '.join(flags)}",
        bar=f"each loss agrees with one GPU within {CLOSE:g} of it: sums in another order differ far less, and a "
        "gradient that is averaged wrongly differs far more",
        run=lambda session: agree(session, *flags, ranks=_ranks(session, gpus), tolerance=CLOSE),
        gpus=gpus,
        packages=packages,
        rehearsed=rehearsed,
    )


def _ranks(session: Session, multiple: int) -> int:
    return session.machine.ranks // multiple * multiple


CHECKS = (
    Check(
        name="one-gpu",
        what=f"{STEPS} steps on one GPU in fp32",
        bar="losses are finite and fall: the reference of the next checks",
        run=one_gpu,
        rehearsed=True,
    ),
    _strategy("ddp", "--strategy=ddp", rehearsed=True),
    _strategy("fsdp2", "--strategy=fsdp2", rehearsed=True),
    _strategy("hsdp", "--strategy=fsdp2", "--shard-size=2", gpus=4),
    _strategy("tensor", "--strategy=tensor", "--tensor-size=2", gpus=2, rehearsed=True),
    _strategy("zero-1", "--strategy=deepspeed", "--zero-stage=1", packages=("deepspeed",)),
    _strategy("zero-3", "--strategy=deepspeed", "--zero-stage=3", packages=("deepspeed",)),
    Check(
        name="bf16",
        what=f"{STEPS} steps on one GPU in bf16",
        bar=f"each loss agrees with fp32 within {ROUGH:g} of it: bf16 has 8 bits of precision",
        run=lambda session: agree(session, "--precision=bf16", ranks=1, tolerance=ROUGH),
        rehearsed=True,
    ),
    Check(
        name="fp16",
        what=f"{STEPS} steps on all GPUs in fp16 with a loss scale",
        bar="losses are finite and fall; no comparison, because the loss scale may skip steps",
        run=lambda session: falls(session, "--precision=fp16"),
    ),
    Check(
        name="compile",
        what=f"{STEPS} steps on all GPUs in fp32 with torch.compile",
        bar=f"each loss agrees with eager mode within {CLOSE:g} of it",
        run=lambda session: agree(session, "--compile", ranks=session.machine.ranks, tolerance=CLOSE),
        packages=("triton",),
        # The first compilation is slow, and each rank does it.
        seconds=600,
    ),
)
