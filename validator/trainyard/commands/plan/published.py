"""Published runs, and the error of the estimate for each."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.commands.plan import tables
from trainyard.commands.plan.fabrics import of_gbps
from trainyard.commands.plan.hardware import gpu_of
from trainyard.commands.plan.layout import Layout
from trainyard.commands.plan.shapes import Shape, shape_of
from trainyard.commands.plan.timing import timing

# Tokens of the runs of which only the hours are known.
_TOKENS = {"llama-2-7b": 2e12, "llama-2-70b": 2e12, "llama-3-8b": 15e12, "llama-3-70b": 15e12}


class Published(NamedTuple):
    """A published run: its layout, what it states, and where. `tolerance` is the allowed error in percent.

    Runs of the use `calibration` have set the constants of the formulas. Those of `test` and `later` test them; the
    latter were written down when the constants were set.
    """

    name: str
    use: str
    shape: Shape
    layout: Layout
    gpu: str
    gbps: float
    metric: str
    value: float
    tolerance: float
    source: str
    remark: str

    @property
    def estimate(self) -> float:
        """The estimate of what the run states."""
        step = timing(self.shape, self.layout, gpu_of(self.gpu), of_gbps(self.gbps)).step
        per_gpu = self.layout.tokens_per_step / step / self.layout.gpus
        match self.metric:
            case "tokens_per_gpu":
                return per_gpu
            case "step_seconds":
                return step
            case "model_tflops":
                return per_gpu * self.shape.flops(self.layout.sequence) / 1e12
            case "hardware_tflops":
                return per_gpu * self.shape.flops(self.layout.sequence) * 4 / 3 / 1e12
            case _:
                return _TOKENS[self.shape.name] / per_gpu / 3600

    @property
    def error(self) -> float:
        """The error of the estimated speed, in percent: positive if the estimate is too fast."""
        is_time = self.metric in ("step_seconds", "gpu_hours")
        return 100 * ((self.value / self.estimate if is_time else self.estimate / self.value) - 1)


def published_runs() -> list[Published]:
    """Returns all published runs."""
    return [_run(row) for row in tables.rows("published")]


def _run(row: dict[str, str]) -> Published:
    gpus, tensor, pipeline, micro = (int(row[key]) for key in ("gpus", "tensor", "pipeline", "micro_batch"))
    copies = gpus // (tensor * pipeline)
    layout = Layout(
        gpus=gpus,
        gpus_per_node=8,
        strategy=row["strategy"],
        accumulation=max(1, round(int(row["global_batch"]) / (copies * micro))),
        recompute=row["recompute"],
        fused=row["attention"] == "fused",
        dtype=row["dtype"],
        state="mixed",
        tensor=tensor,
        pipeline=pipeline,
        virtual=int(row["virtual"]),
        sequence=int(row["sequence"]),
        micro_batch=micro,
    )
    return Published(
        name=row["name"],
        use=row["use"],
        shape=shape_of(row["model"]),
        layout=layout,
        gpu=row["gpu"],
        gbps=float(row["fabric_gbps"]),
        metric=row["metric"],
        value=float(row["value"]),
        tolerance=float(row["tolerance"]),
        source=row["source"],
        remark=row["remark"],
    )
