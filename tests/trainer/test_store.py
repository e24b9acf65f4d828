"""The address of the second store, which other nodes connect to."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from trainer.errors import TrainerError
from trainer.runtime import store


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_RETRY_SECONDS", 0.01)
    monkeypatch.setenv("MASTER_PORT", "29400")


def test_the_address_is_that_from_which_the_first_store_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    assert store.address_towards("127.0.0.1") == "127.0.0.1"


def test_a_name_that_the_dns_lacks_for_a_moment_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve, asked = socket.getaddrinfo, list[str]()

    def late(host: str, *arguments: Any, **options: Any) -> Any:
        asked.append(host)
        if len(asked) < 4:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return resolve("127.0.0.1", *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", late)
    assert store.address_towards("localhost") in ("127.0.0.1", "::1")
    assert asked[:4] == ["localhost"] * 4


def test_a_name_that_the_dns_never_has_ends_the_rank_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_CONNECT_SECONDS", 0.05)
    monkeypatch.setenv("MASTER_ADDR", "no-such-host.invalid")
    with pytest.raises(TrainerError, match=r"cannot find no-such-host\.invalid: .*: check the DNS"):
        store.host_backup()
