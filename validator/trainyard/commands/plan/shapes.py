"""Shapes of decoder-only transformers: parameters, and operations per token."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.commands.plan import tables


class Shape(NamedTuple):
    """The shape of a model. `gated` is an MLP of three matrices; `positions` is 0 without learned positions."""

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    mlp: int
    gated: bool
    vocabulary: int
    positions: int
    tied: bool
    source: str

    @property
    def attention_width(self) -> int:
        """The width of all heads of queries together."""
        return self.heads * self.head_size

    @property
    def kv_width(self) -> int:
        """The width of all heads of keys together."""
        return self.kv_heads * self.head_size

    @property
    def matrix_parameters(self) -> int:
        """The parameters of a layer's matrices."""
        attention = 2 * self.hidden * self.attention_width + 2 * self.hidden * self.kv_width
        return attention + (3 if self.gated else 2) * self.hidden * self.mlp

    @property
    def layer_parameters(self) -> int:
        """The parameters of a layer. Norms of a gated model have no biases, nor have its matrices."""
        if self.gated:
            return self.matrix_parameters + 2 * self.hidden
        biases = self.attention_width + 2 * self.kv_width + self.hidden + self.mlp + self.hidden
        return self.matrix_parameters + 4 * self.hidden + biases

    @property
    def embedding_parameters(self) -> int:
        """The parameters outside of the layers: embeddings, head and the last norm."""
        tables_of_tokens = (1 if self.tied else 2) * self.vocabulary
        return (tables_of_tokens + self.positions + (1 if self.gated else 2)) * self.hidden

    @property
    def parameters(self) -> int:
        """All parameters."""
        return self.layers * self.layer_parameters + self.embedding_parameters

    def matrix_flops(self) -> float:
        """Operations per token in the matrices of the layers, forward and backward: 6 per parameter."""
        return 6.0 * self.layers * self.matrix_parameters

    def head_flops(self) -> float:
        """Operations per token in the head, forward and backward."""
        return 6.0 * self.vocabulary * self.hidden

    def attention_flops(self, sequence: int) -> float:
        """Operations per token between queries, keys and values, without regard to the causal mask.

        Source: Appendix B of PaLM, arXiv:2204.02311.
        """
        return 12.0 * self.layers * self.attention_width * sequence

    def flops(self, sequence: int) -> float:
        """Operations of the model per token, which the model FLOPs utilization (MFU) counts."""
        return self.matrix_flops() + self.head_flops() + self.attention_flops(sequence)


def shape_names() -> tuple[str, ...]:
    """Returns the names of all known models."""
    return tables.names("models")


def shape_of(name: str) -> Shape:
    """Returns the shape of a known model. Raises `PlanError`."""
    row = tables.row("models", name, "model")
    number = {key: int(row[key]) for key in ("layers", "hidden", "heads", "kv_heads", "mlp", "vocabulary", "positions")}
    return Shape(
        name=name,
        head_size=number["hidden"] // number["heads"],
        gated=row["gated"] == "yes",
        tied=row["tied"] == "yes",
        source=row["source"],
        **number,
    )
