"""A game of a few lines, as its makers would write it: it says each half second that it is ready.

It runs as a process of its own and knows nothing but its environment. With `--no-token` it shows
none, as the games of the systems that came before.
"""

import json
import os
import sys
import time
import urllib.request


def main() -> None:
    """Report until it is ended."""
    room, workload = os.environ["GAMEKEEPER_ROOM"], os.environ["GAMEKEEPER_WORKLOAD"]
    path = f"/scheduler/{workload}/rooms/{room}/ping"
    print(f"{room} has pid {os.getpid()}", flush=True)
    while True:
        headers = {"Content-Type": "application/json"}
        if "--no-token" not in sys.argv:
            with open(os.environ["GAMEKEEPER_TOKEN_FILE"]) as file:
                headers["Authorization"] = f"Bearer {file.read()}"
        body = json.dumps({"status": "ready", "timestamp": int(time.time())}).encode()
        url = os.environ["GAMEKEEPER_API_URL"] + path
        request = urllib.request.Request(url, body, headers, method="PUT")
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                how = "with a token" if "Authorization" in headers else "with nothing"
                print(f"reported as {room} {how}: {answer.status}", flush=True)
        except OSError as error:
            print(f"not heard: {error}", flush=True)
        time.sleep(0.5)


if __name__ == "__main__":
    main()
