"""Lines that show that a run went on or ended well: an error before them was handled, or did not matter."""

from __future__ import annotations

import re
from collections import defaultdict, deque

from trainyard.commands.doctor import origins
from trainyard.commands.doctor.reading import Block

# The other ranks may print a step or two after one of them failed.
_STEPS = 3
# The end of a block has some steps if the run goes on; all of them would take the time of decoding the log.
_TAIL = 1 << 14
_STEP = re.compile(
    rb"\bloss['\"]?\s*[:=]\s*['\"]?\d|\b\d+/\d+ \[[\d:]+<|\bimages/sec\b|\bsamples per second\b|\bstep[=: ]+\d+,", re.I
)
_SUCCESS = (b"train_runtime", b"Training completed", b"Training finished", b"finished: SUCCEEDED", b"' succeeded")


class Progress:
    """The steps and the success that the lines of one log show."""

    def __init__(self) -> None:
        self._steps: dict[str | None, deque[int]] = defaultdict(lambda: deque(maxlen=_STEPS))
        self._success = 0

    def read(self, block: Block, *, steps: bool) -> None:
        """Reads a block. Steps are only of interest once there is an error before them."""
        for text in _SUCCESS:
            if (at := block.data.rfind(text)) >= 0:
                self._success = max(self._success, block.first + block.data.count(b"\n", 0, at))
        if not steps:
            return
        tail = max(len(block.data) - _TAIL, 0)
        number, at = block.first + block.data.count(b"\n", 0, tail), tail
        for found in _STEP.finditer(block.data, tail):
            start = block.data.rfind(b"\n", 0, found.start()) + 1
            number, at = number + block.data.count(b"\n", at, max(start, at)), max(start, at)
            origin = origins.origin(block.data[start : found.start()].decode("utf-8", "replace"), None)
            if number not in self._steps[origin]:
                self._steps[origin].append(number)

    def follows(self, number: int, origin: str | None) -> bool:
        """Returns true if the run went on after a line: steps of its rank or pod, or the success of the run."""
        steps = list(self._steps[origin])
        return number < self._success or (len(steps) == _STEPS and number < steps[0])

    def was_over(self, number: int) -> bool:
        """Returns true if the run had ended well before a line."""
        return 0 < self._success < number
