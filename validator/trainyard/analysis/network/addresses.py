"""IP addresses and CIDRs as the CNI plugins parse them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainyard.document.lookup import decimal

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

    Address = IPv4Address | IPv6Address
    Subnet = IPv4Network | IPv6Network


def address(text: str) -> Address | None:
    """Returns the address, None if the text is not one."""
    import ipaddress

    try:
        return ipaddress.ip_address(_plain(text))
    except ValueError:
        return None


def subnet(text: str) -> Subnet | None:
    """Returns the subnet of a CIDR, whose host bits may be set; None if the text is not a CIDR."""
    import ipaddress

    base, slash, length = text.partition("/")
    if not slash or decimal(length) is None:
        return None
    try:
        return ipaddress.ip_network(f"{_plain(base)}/{length}", strict=False)
    except ValueError:
        return None


def _plain(text: str) -> str:
    # Most plugins read leading zeros as decimal (ParseIPSloppy). An address in JSON has no zone.
    if "%" in text:
        return "%"
    return text if ":" in text else re.sub(r"\b0+(?=\d)", "", text)
