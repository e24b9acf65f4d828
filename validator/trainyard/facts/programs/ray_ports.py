"""The listeners of the head of a Ray cluster.

Sources: docs.ray.io/en/latest/cluster/cli.html (`ray start`), docs.ray.io/en/latest/ray-core/configure.html.
"""

from __future__ import annotations

from trainyard.startup import NamedTuple


class Listener(NamedTuple):
    """A listener with its default port, the option of `ray start` that moves it, and the scheme of its addresses."""

    port: str
    option: str
    scheme: str
    name: str
    form: str


LISTENERS = (
    Listener("6379", "port", "", "the control store", "without ray://"),
    Listener("10001", "ray-client-server-port", "ray", "the server of Ray Client", "with ray://"),
    Listener("8265", "dashboard-port", "http", "the dashboard", "with http://"),
)
