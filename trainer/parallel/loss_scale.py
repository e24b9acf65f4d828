"""The scale of the loss that fp16 needs."""

import math
from collections.abc import Mapping

_INITIAL, _LARGEST = 2.0**16, 2.0**24
_PATIENCE = 2000  # steps; as torch.amp.GradScaler has it


class LossScale:
    """Multiplies the loss, since fp16 has no gradients below 6e-8: halved when they overflow, doubled now and then.

    Not `torch.amp.GradScaler`: it looks for infinities rank by rank, and among gradients that are spread over different
    ranks it tells only some of the others. Here the norm of all gradients decides, which every rank knows.
    """

    def __init__(self, *, wanted: bool) -> None:
        self.wanted = wanted
        self.value = _INITIAL if wanted else 1.0
        self._good_steps = 0

    def learn(self, norm: float) -> bool:
        """Whether to take the step whose gradients have this norm; always, if no scale is wanted."""
        if not self.wanted:
            return True
        overflown = not math.isfinite(norm)
        self._good_steps = 0 if overflown else self._good_steps + 1
        if overflown:
            self.value = max(1.0, self.value / 2)
        elif self._good_steps == _PATIENCE:
            self.value, self._good_steps = min(_LARGEST, self.value * 2), 0
        return not overflown

    def state(self) -> dict[str, float]:
        """What must be remembered."""
        return {"value": self.value, "good_steps": self._good_steps}

    def load(self, state: Mapping[str, float]) -> None:
        """Takes over what `state` gave, unless either of the two runs is in another precision."""
        if self.wanted and state["value"] > 1:
            self.value, self._good_steps = float(state["value"]), int(state["good_steps"])
