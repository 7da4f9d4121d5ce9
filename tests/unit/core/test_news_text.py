"""What is told is one line, masked and bounded, whatever stands in Git."""

import json

from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.news_text import LONGEST_REASON, message_of, plain, slack_text
from reconciler.model.notifications import Message, News, Origin, Topic
from tests.unit.core.making import a_key

ORIGIN = Origin("main", "local", "https://git.example.com/studio/fleet.git", "main")


def told(reason: str, left_out: int = 0, change_hash: str = "") -> Message:
    news = News(Topic.REFUSED, a_key(), "place", "identity", reason, "over-budget", change_hash)
    return message_of(news, ORIGIN, "ab" * 20, "2026-01-02T03:04:05Z", left_out)


def test_a_message_says_who_what_and_what_to_do() -> None:
    message = told("takes 12 of 40 rooms", 12, "0123abcd")
    assert message.text == (
        "[main/local] refused Scheduler/arena: takes 12 of 40 rooms "
        "(gamekeeper approve 0123abcd) (and 12 more before it)"
    )
    assert message.body["text"] == message.text
    assert message.body["workload"] == {"kind": "Scheduler", "namespace": "arena", "name": "arena"}
    assert (message.body["event"], message.body["leftOut"]) == ("refused", 12)


def test_the_same_message_has_the_same_id_and_a_later_one_another() -> None:
    news = News(Topic.HELD, None, "place", "identity", "why")
    made = [message_of(news, ORIGIN, "", at, 0).body["id"] for at in ("a", "a", "b")]
    assert made[0] == made[1] != made[2]


@given(st.text(st.characters(codec=None), max_size=3000))
def test_hostile_text_is_one_printable_line(text: str) -> None:
    message = told(text)
    assert message.text.isprintable()
    assert len(plain(text, LONGEST_REASON)) <= LONGEST_REASON
    json.dumps(message.body)


def test_no_secret_is_told() -> None:
    message = told("cannot fetch https://me:hunter2@git.example.com: token=s3cretword")
    assert "hunter2" not in str(message.body) + message.text
    assert "s3cretword" not in str(message.body) + message.text


def test_slack_sees_no_mention_and_no_link() -> None:
    shown = slack_text("<!channel> @here <https://evil.example.com|click> & more")
    assert "<" not in shown
    assert ">" not in shown
    assert "://" not in shown
    assert "@here" not in shown
    assert shown.replace("\u200b", "") == (
        "&lt;!channel&gt; @here &lt;https://evil.example.com|click&gt; &amp; more"
    )
