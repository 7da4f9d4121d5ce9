"""How news are worded: one line for people, and a JSON object for programs.

Names and reasons come from Git, and are hostile: none of them forms a line, a link or a mention,
and what looks like a secret is masked.
"""

from reconciler.core.news import digest
from reconciler.model.masks import redact
from reconciler.model.notifications import Message, News, Origin, Topic
from reconciler.model.printable import escaped

API_VERSION = "gamekeeper.dev/v1"
LONGEST_REASON = 1000
_APART = "\u200b"
"""A space of no width."""
_TITLES = {
    Topic.APPLIED: "applied",
    Topic.HELD: "held",
    Topic.REFUSED: "refused",
    Topic.PORTS_EXHAUSTED: "host ports exhausted",
    Topic.NEEDS_INTERVENTION: "needs intervention",
    Topic.WRITE_BACK: "write-back failing",
}


def message_of(news: News, origin: Origin, commit: str, at: str, left_out: int) -> Message:
    """Return what a target is told; `left_out` is how many older ones it is not told one by one.

    `at` is when the state was seen, as Kubernetes writes a time.
    """
    reason = plain(news.reason, LONGEST_REASON)
    key = news.key
    body: dict[str, object] = {
        "apiVersion": API_VERSION,
        "kind": "Notification",
        "id": digest(origin.instance, origin.cluster, news.place, news.identity, at),
        "event": str(news.topic),
        "at": at,
        "instance": origin.instance,
        "cluster": origin.cluster,
        "repository": plain(origin.repository, LONGEST_REASON),
        "branch": plain(origin.branch, LONGEST_REASON),
        "commit": commit,
        "workload": key and {"kind": key.kind, "namespace": key.namespace, "name": key.name},
        "hold": news.hold or None,
        "approve": news.change_hash or None,
        "reason": reason,
        "leftOut": left_out,
    }
    who = f"{origin.instance}/{origin.cluster}"
    about = f" {plain(str(key), 200)}" if key else ""
    approve = f" (gamekeeper approve {news.change_hash})" if news.change_hash else ""
    more = f" (and {left_out} more before it)" if left_out else ""
    text = f"[{who}] {_TITLES[news.topic]}{about}: {reason}{approve}{more}"
    return Message({**body, "text": text}, text)


def slack_text(text: str) -> str:
    """Return a text in which Slack, and what takes the same, see no link and no mention."""
    escaped_text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # Bare addresses become links there, and @channel a call for everyone with some that are alike.
    return escaped_text.replace("://", f":{_APART}//").replace("@", f"@{_APART}")


def plain(text: str, longest: int) -> str:
    """Return one line without secrets, cut where it is too long."""
    line = escaped(redact(text))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
