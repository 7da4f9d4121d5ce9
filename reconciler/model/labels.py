"""The labels and annotations that are ours on Kubernetes objects."""

INSTANCE = "gamekeeper.dev/instance"
"""Label: the installation that owns the object. Another's object is never ours."""

WORKLOAD = "gamekeeper.dev/workload"
"""Label: the workload's name."""

KIND = "gamekeeper.dev/kind"
"""Label: the workload's kind."""

REVISION = "gamekeeper.dev/revision"
"""Annotation of a room: the revision of the template that it was made from."""

RECORD = "gamekeeper.dev/record"
"""Label of our own ConfigMaps: `state`, `ordinals`, `repository` or `approval`."""

ADOPT = "gamekeeper.dev/adopt"
"""Annotation that a person puts on a foreign object: the instance that may take it over."""

REQUESTED_AT = "gamekeeper.dev/requested-at"
"""Annotation on the repository record: `gamekeeper reconcile` asks the loop to look now."""

HANDLED_AT = "gamekeeper.dev/handled-at"
"""Annotation on the repository record: the last request that the loop has answered."""
