"""The loss scale for fp16."""

from __future__ import annotations

import math
from collections.abc import Mapping

_INITIAL, _LARGEST = 2.0**16, 2.0**24
_GROWTH_INTERVAL = 2000  # steps, as in torch.amp.GradScaler


class LossScale:
    """Scales the loss, because fp16 underflows below 6e-8. Halved when gradients overflow, doubled from time to time.

    `torch.amp.GradScaler` looks for infinities on each rank, and for gradients on different meshes it informs only some
    of the other ranks. This class uses the norm of all gradients, which every rank knows.
    """

    def __init__(self, *, enabled: bool) -> None:
        self.enabled = enabled
        self.value = _INITIAL if enabled else 1.0
        self._good_steps = 0

    def update(self, norm: float) -> bool:
        """Updates the scale. Returns false if the step with this gradient norm must be skipped, in any precision."""
        overflown = not math.isfinite(norm)
        if not self.enabled:
            return not overflown
        self._good_steps = 0 if overflown else self._good_steps + 1
        if overflown:
            self.value = max(1.0, self.value / 2)
        elif self._good_steps == _GROWTH_INTERVAL:
            self.value, self._good_steps = min(_LARGEST, self.value * 2), 0
        return not overflown

    def state_dict(self) -> dict[str, float]:
        """Returns the state to save."""
        return {"value": self.value, "good_steps": self._good_steps}

    def load_state_dict(self, state: Mapping[str, float]) -> None:
        """Loads what `state_dict` returned, unless either run does not use fp16."""
        if self.enabled and state["value"] > 1:
            self.value, self._good_steps = float(state["value"]), int(state["good_steps"])
