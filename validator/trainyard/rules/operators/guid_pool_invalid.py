"""ib-kubernetes rejects this GUID pool, so no InfiniBand pod of the fabric starts.

`ibKubernetes.pKeyGUIDPoolRangeStart` and `pKeyGUIDPoolRangeEnd` of a NicClusterPolicy are GUIDs of eight bytes
separated by colons, such as 02:00:00:00:00:00:00:00. The start must be below the end, and neither may be all zeros or
all ones. The webhook of the network operator rejects the policy. If the webhook is off, ib-kubernetes fails with
`invalid guid range` again and again, and virtual functions keep the GUID zero, with which the subnet manager does not
let them join.

Give each cluster on a fabric its own range: two functions with the same GUID disconnect each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

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
    """Invalid ranges of GUIDs."""
    if resource.kind != "NicClusterPolicy":
        return
    settings, at = mapping(resource.tree, "spec", "ibKubernetes"), resource.at.child("spec", "ibKubernetes")
    found: dict[str, int] = {}
    for field in FIELDS:
        given = text(settings, field)
        if not GUID.match(given):
            if field in settings:
                yield Problem(
                    at.child(field),
                    f"`{field}` is not a GUID of eight bytes",
                    "write one such as 02:00:00:00:00:00:00:00",
                )
            continue
        found[field] = int(given.replace(":", ""), 16)
        if found[field] in (0, 2**64 - 1):
            yield Problem(at.child(field), f"{given} is a reserved GUID", "write a GUID that is not all zeros or ones")
    if len(found) == 2 and found[FIELDS[0]] >= found[FIELDS[1]]:
        yield Problem(at.child(FIELDS[1]), "the GUID range ends before it starts", "write the larger GUID here")
