"""The command line of the harness: build, up, token, where."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from tests.controlplane.api import Api, Refused
from tests.controlplane.build import build_missing
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.credentials import token_for
from tests.controlplane.processes import StartFailed
from tests.controlplane.programs import PROGRAMS, ControlPlaneAbsent, program_path


def main() -> int:
    """Run one command and return its exit code."""
    arguments = _parser().parse_args()
    try:
        return int(arguments.run(arguments))
    except (ControlPlaneAbsent, StartFailed, Refused, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.controlplane", description=__doc__)
    commands = parser.add_subparsers(required=True)
    build = commands.add_parser("build", help="build what the cache lacks (needs Go)")
    build.set_defaults(run=_build)
    where = commands.add_parser("where", help="print the programs' paths")
    where.set_defaults(run=_where)
    up = commands.add_parser("up", help="run a control plane until Ctrl-C")
    up.add_argument("--nodes", type=int, default=3, help="simulated nodes (default 3)")
    up.set_defaults(run=_up)
    token = commands.add_parser("token", help="print a token of a service account")
    token.add_argument("--serviceaccount", required=True, metavar="NAMESPACE/NAME")
    token.add_argument("--kubeconfig", default=os.environ.get("KUBECONFIG"))
    token.set_defaults(run=_token)
    return parser


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _build(_: argparse.Namespace) -> int:
    build_missing(_say)
    return 0


def _where(_: argparse.Namespace) -> int:
    for program in PROGRAMS:
        path = program_path(program)
        print(path, "" if path.is_file() else "(not built)")
    return 0


def _up(arguments: argparse.Namespace) -> int:
    # A shell's background job starts with SIGINT ignored; it is to end like any other.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        with ControlPlane() as cluster:
            if arguments.nodes:
                cluster.add_nodes(arguments.nodes)
            _say(f"control plane: ready at {cluster.url}; Ctrl-C stops it")
            print(f"export KUBECONFIG={cluster.kubeconfig}", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        _say("control plane: stopped")
    return 0


def _token(arguments: argparse.Namespace) -> int:
    if not arguments.kubeconfig:
        raise ValueError("no cluster: give --kubeconfig, or export KUBECONFIG as `up` printed it")
    api = Api.from_kubeconfig(Path(arguments.kubeconfig))
    print(token_for(api, arguments.serviceaccount))
    return 0


if __name__ == "__main__":
    sys.exit(main())
