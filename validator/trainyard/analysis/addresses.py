"""IP addresses and CIDRs as the CNI plugins read them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from validator.fields import decimal

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

    Address = IPv4Address | IPv6Address
    Subnet = IPv4Network | IPv6Network


def address(text: str) -> Address | None:
    """The address, None when the text is none."""
    import ipaddress

    try:
        return ipaddress.ip_address(_plain(text))
    except ValueError:
        return None


def subnet(text: str) -> Subnet | None:
    """The subnet of a CIDR, whose host bits may be set; None when the text is no CIDR."""
    import ipaddress

    base, slash, length = text.partition("/")
    if not slash or decimal(length) is None:
        return None
    try:
        return ipaddress.ip_network(f"{_plain(base)}/{length}", strict=False)
    except ValueError:
        return None


def _plain(text: str) -> str:
    # Leading zeros are read as decimal by most plugins (ParseIPSloppy), and a zone is no part of an address in JSON.
    if "%" in text:
        return "%"
    return text if ":" in text else re.sub(r"\b0+(?=\d)", "", text)
