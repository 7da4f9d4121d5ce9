"""An admission webhook as meshes and policy engines bring one: a process of its own beside the API.

It may inject, deny, answer late, or be gone; whatever it does, a cluster asks it of each new pod,
or of the end of a namespace.
"""

import base64
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from reconciler.model.refs import Json
from tests.controlplane.api import Api
from tests.controlplane.processes import free_ports
from tests.e2e.real_policies import ADMISSION, ANY
from tests.gitservers.certificates import make_certificate, server_context

PATIENCE_SECONDS = 3
CREATE, DELETE = "CREATE", "DELETE"
MESH: Json = {"name": "mesh", "image": "registry.example/mesh:1"}


class Webhook:
    """Serves admission reviews on the loopback address; `denies` is its message, "" for none.

    An answer takes `seconds`. Every new pod gets a container, and a label. `asked` counts what it
    was asked of.
    """

    def __init__(self, folder: Path) -> None:
        self.denies = ""
        self.seconds = 0.0
        self.asked: Counter[str] = Counter()
        self.certificate = make_certificate(folder)
        self._server: ThreadingHTTPServer | None = None
        # Not one of those that outgoing connections get: it must be free still when we come back.
        (self.port,) = free_ports(1)

    @property
    def url(self) -> str:
        """Where the API server sends its reviews."""
        return f"https://127.0.0.1:{self.port}/pods"

    def start(self) -> None:
        """Listen, where it listened before."""
        webhook = self

        class Handler(BaseHTTPRequestHandler):
            """Answers one review."""

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                answer = json.dumps(webhook.review(json.loads(self.rfile.read(length)))).encode()
                with suppress(OSError):  # the API server waits no longer
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *arguments: object) -> None:
                """Say nothing: the API server's audit tells what it was asked."""

        server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        server.daemon_threads = True
        context = server_context(self.certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        self._server = server
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Be gone: connections are refused."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def sound(self) -> None:
        """Be as it was at first."""
        self.denies, self.seconds = "", 0.0
        if self._server is None:
            self.start()

    def review(self, asked: Json) -> Json:
        """Return the answer to one review."""
        operation = asked["request"]["operation"]
        self.asked[operation] += 1
        time.sleep(self.seconds)
        response: Json = {"uid": asked["request"]["uid"], "allowed": not self.denies}
        if self.denies:
            response["status"] = {"code": 403, "message": self.denies}
        elif operation == CREATE:
            marked = {"op": "add", "path": "/metadata/labels/example.com~1mesh", "value": "on"}
            steps = [{"op": "add", "path": "/spec/containers/-", "value": MESH}, marked]
            patch = base64.b64encode(json.dumps(steps).encode()).decode()
            response |= {"patchType": "JSONPatch", "patch": patch}
        return {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": response,
        }


@contextmanager
def reviewing(
    api: Api,
    namespace: str,
    folder: Path,
    what: str = "pods",
    operation: str = CREATE,
    patience_seconds: int = PATIENCE_SECONDS,
) -> Iterator[Webhook]:
    """Have each new pod of a namespace reviewed for a block; without an answer none is made.

    Or its own end, with `what` "namespaces" and the operation DELETE.
    """
    webhook = Webhook(folder)
    webhook.start()
    authority = base64.b64encode(webhook.certificate.read_bytes()).decode()
    hook: Json = {
        "name": "pods.mesh.example.com",
        "clientConfig": {"url": webhook.url, "caBundle": authority},
        "rules": [{**ANY, "operations": [operation], "resources": [what]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": patience_seconds,
        "admissionReviewVersions": ["v1"],
    }
    path = f"{ADMISSION}/mutatingwebhookconfigurations"
    try:
        api.demand("POST", path, {"metadata": {"name": namespace}, "webhooks": [hook]})
        yield webhook
    finally:
        api.ask("DELETE", f"{path}/{namespace}")
        webhook.stop()
