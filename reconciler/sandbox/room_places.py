"""What a process finds that stands in for a room's container: environment and token files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from reconciler.sandbox.cluster import Sandbox
from reconciler.sandbox.kinds import CONFIG_MAP, SECRET
from reconciler.sandbox.requests import Json, Request, Response
from reconciler.sandbox.room_environment import environment_of

_TOKEN_SECONDS = 30 * 86_400
"""No kubelet renews the tokens here: they are asked for as long as a sandbox may live."""
_KINDS = {"ConfigMap": CONFIG_MAP, "Secret": SECRET}


class RoomPlaces:
    """Makes a place in `folder` for each pod. `now` is Unix seconds.

    `overrides` stand in every environment, over what the pod says: addresses that hold inside a
    cluster lead nowhere from this machine. Of volumes only projected tokens are there; a variable
    that names a path below one is led to the file that is.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        folder: Path,
        overrides: Mapping[str, str],
        now: Callable[[], float],
    ) -> None:
        self._sandbox = sandbox
        self._folder = folder
        self._overrides = overrides
        self._now = now

    def environment(self, pod: Json) -> Mapping[str, str]:
        """Return the environment of the first container of a pod, and write its tokens."""
        container = pod["spec"]["containers"][0]
        namespace = pod["metadata"]["namespace"]
        made = environment_of(pod, container, lambda kind, name: self._find(kind, namespace, name))
        for mounted, here in self._mounts(pod, container):
            for name, text in made.items():
                if text == mounted or text.startswith(f"{mounted}/"):
                    made[name] = str(here) + text[len(mounted) :]
        return {**made, **self._overrides}

    def forget(self, uid: str) -> None:
        """Remove the place of a pod that is no more."""
        shutil.rmtree(self._folder / uid, ignore_errors=True)

    def _find(self, kind: str, namespace: str, name: str) -> Json | None:
        stored = self._sandbox.world.store.get(_KINDS[kind], namespace, name)
        return stored.decode(_KINDS[kind]) if stored else None

    def _mounts(self, pod: Json, container: Json) -> Iterator[tuple[str, Path]]:
        """Write what is mounted; where it is mounted and where it stands here."""
        volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
        for mount in container.get("volumeMounts") or ():
            volume = volumes.get(mount["name"], {})
            sources = (volume.get("projected") or {}).get("sources") or ()
            tokens = [
                source["serviceAccountToken"]
                for source in sources
                if "serviceAccountToken" in source
            ]
            here = self._folder / pod["metadata"]["uid"] / mount["name"]
            for token in tokens:
                _write(here / token["path"], self._token(pod, token.get("audience", "")))
            if tokens:
                yield mount["mountPath"].rstrip("/"), here

    def _token(self, pod: Json, audience: str) -> str:
        metadata = pod["metadata"]
        account = pod["spec"].get("serviceAccountName") or "default"
        bound = {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": metadata["name"],
            "uid": metadata["uid"],
        }
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {
                "audiences": [audience] if audience else [],
                "expirationSeconds": _TOKEN_SECONDS,
                "boundObjectRef": bound,
            },
        }
        url = f"/api/v1/namespaces/{metadata['namespace']}/serviceaccounts/{account}/token"
        headers = {"content-type": "application/json"}
        request = Request.of("POST", url, json.dumps(body).encode(), headers)
        answer = self._sandbox.handle(request, self._now())
        if not isinstance(answer, Response) or answer.status != 201:
            return ""  # as a kubelet that is refused: the room finds no credential
        token: str = json.loads(answer.body)["status"]["token"]
        return token


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(number, "w") as file:
        file.write(text)
