"""The imports of a rank."""

from __future__ import annotations

import gc
import json
import subprocess
import sys

from trainer.runtime.imports import no_garbage_collection

# `trainer.run.run` is called when everything is imported. Reports the collections since torch began to be imported, the
# state of the collector, and the number of modules that an optimizer imports.
STARTED = """
import gc, json, sys

collections = []
gc.callbacks.append(lambda phase, _: collections.append(phase) if phase == "start" and "torch" in sys.modules else None)

def report(frame, event, _):
    if event == "call" and frame.f_code.co_name == "run" and frame.f_globals["__name__"] == "trainer.run":
        sys.setprofile(None)
        import torch
        known = set(sys.modules)
        during, enabled, excluded = len(collections), gc.isenabled(), gc.get_freeze_count()
        torch.optim.AdamW([torch.nn.Parameter(torch.ones(2))], fused=True).zero_grad()
        print(json.dumps([during, enabled, excluded, len(set(sys.modules) - known)]))

from trainer.__main__ import main
sys.setprofile(report)
main(["--data", "folder", "--data-dir", "/missing"])
"""


def test_no_garbage_is_collected_while_a_rank_imports_what_its_first_step_needs() -> None:
    ended = subprocess.run([sys.executable, "-c", STARTED], check=True, capture_output=True, text=True, timeout=120)
    collections, enabled, excluded, imported_later = json.loads(ended.stdout.splitlines()[0])
    assert (collections, enabled, imported_later) == (0, True, 0)
    assert excluded > 100_000


def test_a_disabled_collector_stays_disabled() -> None:
    gc.disable()
    try:
        with no_garbage_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
        gc.unfreeze()
