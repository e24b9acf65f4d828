"""No rule raises an exception, whatever a file contains."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.validator.linting import corruption
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.engine import registry
from trainyard.engine.engine import Engine
from trainyard.engine.rule import Target
from trainyard.facts import profiles
from trainyard.linting import pipeline
from trainyard.loaders.site import loading

RULES = registry.rules()
SECONDS = 2
OLD = Target(nccl=(2, 18), torch=(2, 0), trainer=(2, 0), kubernetes=(1, 28))
NEW = Target(nccl=(2, 30, 7), torch=(2, 10), trainer=(2, 3), kubernetes=(1, 35))
SITE = loading.load_site(str(registry.folder() / "site" / "cases" / "onprem.site.yaml"))
ENGINES = (
    Engine(RULES),
    Engine(RULES, site=SITE),
    *(Engine(RULES, target, name) for target in (OLD, NEW) for name in profiles.profile_names()),
)

# Such a list once had no hash.
NESTED_MODES = """\
apiVersion: v1
kind: PersistentVolume
metadata: {name: data}
spec: {accessModes: [[ReadWriteMany]], nfs: {server: a, path: /}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
"""


@pytest.fixture(scope="module", autouse=True)
def garbage_collection_as_in_the_command() -> Iterator[None]:
    """Collects garbage as rarely as `trainyard lint` does, and never what the tests before this file have left."""
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


@settings(max_examples=800, suppress_health_check=list(HealthCheck))
@given(corruption.texts(), st.sampled_from(ENGINES))
@example(NESTED_MODES, ENGINES[0])
def test_damaged_files_are_judged_without_an_error_and_in_time(text: str, engine: Engine) -> None:
    started = time.process_time()
    report = pipeline.lint([pipeline.read_file(File(Source("damaged.yaml", text)))], engine)
    assert time.process_time() - started < SECONDS
    assert all(finding.message for finding in report.findings)
