"""No rule raises an error, whatever the files hold."""

from __future__ import annotations

import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.validator import damage
from validator import linting, registry
from validator.engine import Engine
from validator.facts import profiles
from validator.files import File
from validator.roads.site import loading
from validator.rule import Target
from validator.source import Source

RULES = registry.rules()
SECONDS = 2
OLD = Target(nccl=(2, 18), torch=(2, 0), trainer=(2, 0), kubernetes=(1, 28))
NEW = Target(nccl=(2, 30, 7), torch=(2, 10), trainer=(2, 3), kubernetes=(1, 35))
SITE = loading.load(str(registry.folder() / "site" / "onprem.site.yaml"))
ENGINES = (
    Engine(RULES),
    Engine(RULES, site=SITE),
    *(Engine(RULES, target, name) for target in (OLD, NEW) for name in profiles.names()),
)


@settings(max_examples=800, suppress_health_check=list(HealthCheck))
@given(damage.texts(), st.sampled_from(ENGINES))
def test_damaged_files_are_judged_without_an_error_and_in_time(text: str, engine: Engine) -> None:
    started = time.process_time()
    report = linting.lint([linting.read(File(Source("damaged.yaml", text)))], engine)
    assert time.process_time() - started < SECONDS
    assert all(finding.message for finding in report.findings)
