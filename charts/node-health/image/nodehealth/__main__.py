"""The command line: `python -m nodehealth agent|controller --config FILE`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from nodehealth import agent, api, config
from nodehealth.control import leadership
from nodehealth.control.controller import Loop


def main() -> int:
    """Runs one of the two programs. Returns 2 if its settings cannot be used."""
    # As process 1 of a container, Python would ignore SIGTERM.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    parser = argparse.ArgumentParser(prog="nodehealth", description=__doc__)
    parser.add_argument("program", choices=("agent", "controller"))
    parser.add_argument(
        "--config", type=Path, required=True, help="settings, which the chart node-health writes as JSON"
    )
    given = parser.parse_args()
    try:
        if given.program == "agent":
            _agent(config.read(given.config, config.Agent))
        else:
            _controller(config.read(given.config, config.Controller))
    except config.ConfigError as error:
        print(f"nodehealth: {error}", file=sys.stderr)
        return 2
    return 0


def _agent(settings: config.Agent) -> None:
    import pynvml

    node = settings.node or os.environ.get("NODE_NAME", "")
    if not node:
        raise config.ConfigError("NODE_NAME is empty: name the node of this agent")
    agent.run(config.with_node(settings, node), api.connect(), pynvml)


def _controller(settings: config.Controller) -> None:
    from prometheus_client import start_http_server

    connection = api.connect()
    release = os.environ.get("RELEASE", "node-health")
    identity = f"{release}/{os.environ.get('HOSTNAME', str(os.getpid()))}"
    start_http_server(settings.metrics_port)
    leadership.lead(settings, connection, identity, Loop(settings, connection, release).run)


if __name__ == "__main__":
    sys.exit(main())
