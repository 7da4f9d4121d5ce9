"""The command line of the code host: build, where."""

from __future__ import annotations

import argparse
import sys

from tests.codehost.build import CodeHostAbsent, build_missing, home


def main() -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.codehost", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    commands.add_parser("build", help="build what the cache lacks (needs Go and a C compiler)")
    commands.add_parser("where", help="print the program's folder")
    if parser.parse_args().command == "where":
        print(home())
        return 0
    try:
        build_missing(lambda text: print(text, file=sys.stderr, flush=True))
    except (CodeHostAbsent, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
