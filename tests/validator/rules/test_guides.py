"""Mistakes that well-read guides to distributed training teach: each is found without options."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.linting.session import start_session

GUIDES = Path(__file__).parent / "guides"
# By guide, the mistakes of each file. The manifests are written anew, with the mistakes of the guide.
MISTAKES = {
    # A guide to the training operator, from the first job to gang scheduling.
    "operator-guide": {
        "job.yaml": {"KF023", "RF008", "NC001", "NC003", "NC004"},
        "tensorflow.yaml": {"SH001"},
    },
    # A recipe for RDMA, DeepSpeed, TensorFlow and Horovod.
    "rdma-recipe": {
        "job.yaml": {"KF008", "KF021", "KF022", "NC008"},
        "ds_config.json": {"DS001"},
        "tensorflow.yaml": {"SH001"},
        "horovod.yaml": {"SC003"},
    },
    # A course with networks, an elastic job, and the story of an interface that halved the throughput.
    "infrastructure-module": {
        "networks.yaml": {"NT002", "NT008", "NT015"},
        "elastic.yaml": {"KF002", "KF022", "SH001"},
        "story.yaml": {"NC040", "RF006"},
        "mpi.yaml": {"SC003", "SH001"},
    },
}


@pytest.mark.parametrize("guide", MISTAKES)
def test_each_mistake_of_a_guide_is_found(guide: str) -> None:
    found = {
        (Path(finding.position.source.name).name, finding.rule.code)
        for finding in start_session((str(GUIDES / guide),)).lint().findings
    }
    expected = {(name, code) for name, codes in MISTAKES[guide].items() for code in codes}
    assert expected - found == set()
