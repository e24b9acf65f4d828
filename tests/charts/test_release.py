"""The size of a release as Helm stores it, compared to the limit of a Secret."""

from __future__ import annotations

import base64
import gzip
import json

import pytest

from tests.charts.helm import CHARTS, RELEASE, helm

# Kubernetes accepts at most 1 MiB of data in one Secret (core/v1 MaxSecretSize); half of it leaves room to grow.
LIMIT_BYTES = 512 * 1024


@pytest.mark.parametrize("chart", CHARTS)
def test_the_release_takes_less_than_half_of_a_secret(chart: str) -> None:
    """Helm 4 prints the release object; both Helms store it as base64 of gzip of JSON (pkg/storage/driver/util.go)."""
    result = helm("helm4", "install", RELEASE, CHARTS[chart], "--dry-run=client", "--output", "json")
    assert result.returncode == 0, result.stderr
    release = json.loads(result.stdout)
    assert release["manifest"]
    assert release["chart"]["templates"]

    compact = json.dumps(release, separators=(",", ":"), ensure_ascii=False).encode()
    stored = base64.b64encode(gzip.compress(compact, compresslevel=9))

    assert len(stored) < LIMIT_BYTES, f"{len(stored) / 1024:.0f} KiB"
