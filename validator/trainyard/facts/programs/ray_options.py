"""Options of `ray start` and other commands of Ray, of releases from 1.0 to 2.52.

Sources: docs.ray.io/en/latest/cluster/cli.html (ray start); ray-project/ray python/ray/scripts/scripts.py (start),
python/ray/dashboard/modules/job/cli.py (submit, status, stop, delete, logs, list), python/ray/serve/scripts.py;
docs.ray.io/en/master/serve/api/cli.html.
"""

from __future__ import annotations

INTEGERS = (
    "--dashboard-agent-grpc-port", "--dashboard-agent-listen-port", "--dashboard-port", "--gcs-server-port",
    "--max-worker-port", "--metrics-export-port", "--min-worker-port", "--node-manager-port", "--num-cpus",
    "--num-gpus", "--object-manager-port", "--object-store-memory", "--port", "--ray-client-server-port",
    "--runtime-env-agent-port",
)  # fmt: skip
OTHERS = (
    "--address", "--autoscaling-config", "--block", "--dashboard-host", "--disable-usage-stats", "--head",
    "--include-dashboard", "--labels", "--labels-file", "--log-color", "--log-style", "--memory", "--no-monitor",
    "--no-redirect-output", "--node-ip-address", "--node-name", "--object-spilling-directory", "--plasma-directory",
    "--plasma-store-socket-name", "--ray-debugger-external", "--raylet-socket-name", "--redis-password",
    "--redis-shard-ports", "--redis-username", "--resources", "--system-config", "--temp-dir",
    "--tracing-startup-hook", "--verbose", "--worker-port-list",
)  # fmt: skip
# Names that are too different from the right one for a guess.
MISNAMED = {
    "--cpus": "--num-cpus",
    "--dashboard-ip": "--dashboard-host",
    "--gpus": "--num-gpus",
    "--head-address": "--address",
    "--host": "--node-ip-address",
    "--include-webui": "--include-dashboard",
    "--node-ip": "--node-ip-address",
    "--webui-host": "--dashboard-host",
}
# Options that Ray 1.0 removed without one in their place (modin-project/modin issue 2352, ray-project/ray issue 17139).
REMOVED = {"--num-redis-shards": "write `--redis-shard-ports`, with a port for each shard"}
# Those of `ray job submit`. Source: ray-project/ray python/ray/dashboard/modules/job/cli.py and cli_utils.py.
SUBMIT_VALUED = (
    "--address", "--entrypoint-label-selector", "--entrypoint-memory", "--entrypoint-num-cpus", "--entrypoint-num-gpus",
    "--entrypoint-resources", "--headers", "--job-id", "--log-color", "--log-style", "--metadata-json",
    "--runtime-env", "--runtime-env-json", "--submission-id", "--verify", "--working-dir",
)  # fmt: skip
SUBMIT_FLAGS = ("--help", "--no-wait", "--verbose", "-v")
# Options of a head alone; `ray start` refuses them on other nodes.
OF_HEAD = ("--include-dashboard", "--port", "--redis-shard-ports")
_LOGGING = ("--log-color", "--log-style", "--verbose")
_OF_JOBS = ("--address", "--headers", "--verify", *_LOGGING)
_OF_APPS = ("--address", "--app-dir", "--name", "--runtime-env", "--runtime-env-json", "--working-dir")
# Other commands by their first words, and the options of each.
COMMANDS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("ray", "start"): (*INTEGERS, *OTHERS),
    ("ray", "job", "stop"): (*_OF_JOBS, "--no-wait"),
    ("ray", "job", "status"): _OF_JOBS,
    ("ray", "job", "delete"): _OF_JOBS,
    ("ray", "job", "logs"): (*_OF_JOBS, "--follow"),
    ("serve", "run"): (
        *_OF_APPS, "--blocking", "--gradio", "--host", "--http-host", "--http-port", "--non-blocking", "--port",
        "--reload", "--route-prefix",
    ),
    ("serve", "deploy"): _OF_APPS,
    ("serve", "start"): (
        "--address", "--grpc-port", "--grpc-servicer-functions", "--http-host", "--http-location", "--http-port",
        "--proxy-location",
    ),
}  # fmt: skip
