"""The first files of a user's repository: they work as they stand, and teach while they do."""

import json

from reconciler import assets

CONFIG = """\
# yaml-language-server: $schema=.schemas/config.v1.json
#
# One of these a repository. Everything below is the default: delete what you agree with.
apiVersion: gamekeeper.dev/v1
kind: Config
spec:
  # Directories that hold schedulers and fleets.
  paths:
    - schedulers

  # The Kubernetes version that templates are checked against: that of your oldest cluster.
  kubernetesVersion: "1.36"

  # A commit that removes more rooms than this waits for `gamekeeper approve`.
  budgets:
    workload:
      rooms: 3
      percent: 10
    total:
      rooms: 3
      percent: 5
    windowSeconds: 600

  pollSeconds: 60 # how often Git is asked for new commits when no webhook comes
  resyncSeconds: 300 # how often everything is compared again, changed or not
"""

SCHEDULER = """\
# yaml-language-server: $schema=../.schemas/scheduler.v1.json
#
# A fleet of rooms: one pod a room, in a namespace named after the scheduler.
apiVersion: gamekeeper.dev/v1
kind: Scheduler
metadata:
  name: {name} # a new name is a new fleet: the old one's rooms are deleted
spec:
  game: {name}

  # How many rooms there shall be. Commit another number to scale, `git revert` to undo.
  replicas: 2

  # Rooms do not report their players: a ready room counts as idle, and may be removed. Where your
  # server reports over HTTP write `required`, and start `gamekeeper run` with --rooms-listen: then
  # no room with players is removed.
  reports: none

  # A changed template replaces rooms step by step.
  rollout:
    maxSurge: 25% # rooms above `replicas` meanwhile
    maxUnavailable: 0 # rooms below `replicas` that may be missing meanwhile

  # Host ports for players: each containerPort of the template gets one of these.
  portRange:
    start: 20000
    end: 20999

  # The pod of a room: any Kubernetes pod template. Put your game server's image here.
  template:
    spec:
      terminationGracePeriodSeconds: 5
      containers:
        - name: server
          image: busybox:1.37
          command: ["sh", "-c", "echo room $GAMEKEEPER_ROOM is open; exec sleep 1000000"]
          ports:
            - name: game
              containerPort: 7777
              protocol: UDP
          resources:
            requests:
              cpu: 50m
              memory: 32Mi
"""

README = """\
# {name}

What runs on the cluster is what this repository says. Change a number, commit, push.

    gamekeeper validate .              # every mistake, with its place and its fix
    gamekeeper render .                # the manifests
    gamekeeper sandbox                 # a cluster to try it on, in another terminal

`.schemas/` lets your editor check and complete the files as you type.
"""


def files(name: str) -> dict[str, str]:
    """Return the files by path, with one scheduler `name`. Raises Misconfigured."""
    made = {
        "gamekeeper.yaml": CONFIG,
        f"schedulers/{name}.yaml": SCHEDULER.format(name=name),
        "README.md": README.format(name=name),
    }
    for kind, schema in assets.schemas().items():
        path = f".schemas/{kind.lower()}.v1.json"
        made[path] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    return made
