"""Values that took exponential or quadratic time: a rule must end soon, whatever a file holds."""

from __future__ import annotations

import pytest

from trainyard.rules.nccl.nccl_tcpx_bindings_overlap import _processors
from trainyard.rules.schema.workflow_condition_refused import _is_selector


@pytest.mark.timeout(20)
@pytest.mark.parametrize("condition", ["a in (" + ", " * 100_000 + "!", "a" + " " * 200_000 + "!"])
def test_a_long_condition_that_is_no_selector_is_refused(condition: str) -> None:
    assert not _is_selector(condition)


@pytest.mark.timeout(20)
def test_long_lists_of_processors_are_read() -> None:
    assert _processors("eth1:" + ",".join(["0-4095"] * 100_000)) == {"eth1": (1 << 4096) - 1}
