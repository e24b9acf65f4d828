"""ib-kubernetes stops at this pool of GUIDs, so no InfiniBand function gets an address and no pod on the fabric starts.

`ibKubernetes.pKeyGUIDPoolRangeStart` and `pKeyGUIDPoolRangeEnd` of a NicClusterPolicy are GUIDs of eight bytes with
colons between, such as 02:00:00:00:00:00:00:00. The first must be below the second, and neither all zeros nor all
ones. The webhook of the network operator refuses the policy; where the webhook is off, ib-kubernetes ends with
`invalid guid range` again and again, and functions keep the GUID zero, with which the subnet manager does not let them
join.

Give each cluster on a fabric a range of its own: two functions with one GUID take each other off the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from validator.fields import mapping, text
from validator.model import Resource
from validator.rule import Problem, rule

GUID = re.compile(r"(?:[0-9A-Fa-f]{2}:){7}[0-9A-Fa-f]{2}$")
FIELDS = ("pKeyGUIDPoolRangeStart", "pKeyGUIDPoolRangeEnd")


@rule(
    code="GO009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "Mellanox/ib-kubernetes pkg/guid/guid_pool.go: NewPool, isValidRange; pkg/guid/guid.go: ParseGUID",
        "Mellanox/network-operator v26.4.1 api/v1alpha1/validator/nicpolicy_webhook.go: isValidPKeyRange",
    ),
    needs=FIELDS,
)
def guid_pool_invalid(resource: Resource) -> Iterator[Problem]:
    """Ranges of GUIDs that cannot be used."""
    if resource.kind != "NicClusterPolicy":
        return
    settings, at = mapping(resource.tree, "spec", "ibKubernetes"), resource.at.child("spec", "ibKubernetes")
    found: dict[str, int] = {}
    for field in FIELDS:
        given = text(settings, field)
        if not GUID.match(given):
            if field in settings:
                yield Problem(
                    at.child(field), f"`{field}` is no GUID of eight bytes", "write one such as 02:00:00:00:00:00:00:00"
                )
            continue
        found[field] = int(given.replace(":", ""), 16)
        if found[field] in (0, 2**64 - 1):
            yield Problem(at.child(field), f"{given} is no GUID that a function can have", "write another one")
    if len(found) == 2 and found[FIELDS[0]] >= found[FIELDS[1]]:
        yield Problem(at.child(FIELDS[1]), "the range of GUIDs ends before it starts", "write the larger GUID here")
