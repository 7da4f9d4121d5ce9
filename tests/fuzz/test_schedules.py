"""Small languages of our settings: cron, dates, freezes, addresses, and lists of people."""

import json
import random
from collections.abc import Callable

from reconciler import assets
from reconciler.adapters.git.urls import check_branch, check_revision, checked, redacted
from reconciler.core import cron
from reconciler.core.calendar import day_of
from reconciler.core.code_hosts import Unhosted, hosted_of, is_open
from reconciler.core.egress import allowed_of, place_of
from reconciler.core.freeze_windows import check_freeze, next_change, open_at, sentence, windows_of
from reconciler.core.instants import instant_of_text, told
from reconciler.model.errors import Misconfigured
from reconciler.model.masks import redact, without_userinfo
from reconciler.service.doors.admins import admins_of
from tests.fuzz.forging import Forge
from tests.fuzz.playing import Target, search

NOW = 1_760_000_000.0
ZONES = assets.TimeZones()
CRONS = Forge(
    [b"0 18 * * fri", b"*/15 0-6/2 1,15 jan-mar 1-5", b"0 0 29 2 *", b"30 2 * * 7"],
    (b"*", b"*/", b"-", b",", b"31", b"60", b"sun", b"dec", b"1-", b"/0", b"99999"),
    300,
)
TEXTS = {
    "name": Forge([b"weekend", b"a match"], (), 100),
    "reason": Forge([b"the finals"], (), 300),
    "schedule": CRONS,
    "timeZone": Forge(
        [b"Europe/Berlin", b"UTC", b"Asia/Kathmandu"], (b"../x", b"posix", b"Etc/"), 60
    ),
    "from": Forge([b"2026-12-23", b"2026-12-23T18:00:00+01:00"], (b"Z", b"24:00", b"9999"), 60),
    "until": Forge([b"2026-12-27", b"2026-12-27T06:00:00.5Z"], (b"T", b"-12:00", b"0000"), 60),
}
USUAL = {"timeZone": "Europe/Berlin", "from": "2026-12-23", "until": "2027-01-02"}
MOMENTS = (NOW, 0.0, 1_774_746_000.0, 4_000_000_000.0)
ADDRESSES = Forge(
    [
        b"https://user:secret@git.example.com:8443/group/fleet.git?x=1#y",
        b"ssh://git@git.example.com:22/group/fleet.git",
        b"git@github.com:group/fleet.git",
        b"file:///srv/git/fleet",
        b"http://[::1]:3000/a/b",
        b"*.example.com:443",
        b"https://hooks.example.com/a%2fb",
        b"refs/heads/main~1^{commit}",
    ],
    (b"@", b"::", b"[", b"]", b"%40", b"xn--", b":0", b":99999", b"..", b"@{", b"\\", b"127.1"),
    6_000,
)
ADMINS = Forge(
    [
        b"- name: ada\n  sha256: '"
        + b"a1" * 32
        + b"'\n  schedulers: '*'\n  verbs: [read, drain]\n",
        b"- {name: bot, sha256: '" + b"0" * 64 + b"', schedulers: [arena], verbs: [commit]}\n",
    ],
    (b"verbs:", b"- ", b"'*'", b"name: a", b"sha256: 1"),
    8_000,
)


def scheduled(data: bytes) -> None:
    """A schedule begins at times of the day and on days that there are, or is said to be none."""
    found = cron.parse(data.decode("utf-8", "replace"))
    if isinstance(found, str):
        found.encode("utf-8", "surrogatepass")
        return
    assert 0 < len(found.times) <= cron.MOST_TIMES
    assert all(0 <= at < 86_400 for at in found.times)
    assert found.months <= set(range(1, 13))
    assert found.days <= set(range(1, 32))
    assert found.weekdays <= set(range(7))
    found.is_on(20_000)


def freezes_of(chance: random.Random) -> bytes:
    """Return one or two freezes that their schema would let pass."""
    return json.dumps([freeze_of(chance) for _ in range(chance.randint(1, 2))]).encode()


def freeze_of(chance: random.Random) -> dict[str, object]:
    entry: dict[str, object] = {"name": TEXTS["name"](chance).decode("utf-8", "replace")}
    for name in ("timeZone", *chance.choice((("schedule",), ("from", "until")))):
        usual = name in USUAL and chance.random() < 0.6
        entry[name] = USUAL[name] if usual else TEXTS[name](chance).decode("utf-8", "replace")
    if "schedule" in entry:
        if chance.random() < 0.5:
            entry["schedule"] = chance.choice(("0 18 * * fri", "*/30 2 * * *", "0 0 29 2 *"))
        entry["durationSeconds"] = chance.choice((60, 3600, 86_400, 10**7))
    return entry


def frozen(data: bytes) -> None:
    """A freeze without mistakes opens and ends; one with mistakes has fixes."""
    entries = json.loads(data)
    mistakes = list(check_freeze(entries, ZONES))
    assert all(each.message and each.fix for each in mistakes)
    if mistakes:
        return
    windows = windows_of(entries)
    for now in MOMENTS:
        for freeze in open_at(windows, ZONES, now):
            assert freeze.since <= now < freeze.until
            sentence(freeze)
        change = next_change(windows, ZONES, now)
        assert change is None or change > now


def dated(data: bytes) -> None:
    """A text is a date, an instant, or neither; what is one can be told."""
    text = data.decode("utf-8", "replace")
    day_of(text)
    at = instant_of_text(text)
    if at is not None and at >= 0:
        assert told(at).endswith(" UTC")


def addressed(data: bytes) -> None:
    """An address is taken apart or refused, and no password of it is shown."""
    text = data.decode("utf-8", "replace")
    checks: tuple[Callable[[], str], ...] = (
        lambda: checked(text).url,
        lambda: check_branch(text),
        lambda: check_revision(text),
    )
    for check in checks:
        try:
            assert not check().startswith("-")
        except Misconfigured as error:
            str(error).encode("utf-8", "surrogatepass")
    try:
        is_open(hosted_of(text, "auto"))
        is_open(hosted_of(text, "gitea", text))
    except Unhosted as error:
        str(error).encode("utf-8", "surrogatepass")
    place_of(text)
    allowed_of(text)
    if data.startswith(b"https://user:secret@git") and not data.count(b"secret") > 1:
        shown = f"{redacted(text)}{redact(text)}{without_userinfo(text)}"
        assert "secret" not in shown


def assert_names_its_file(error: Misconfigured) -> None:
    assert str(error).startswith("admins.yaml:")


def admitted(data: bytes) -> None:
    """A list of people is whole and sound, or names the line that is not."""
    try:
        admins = admins_of("admins.yaml", data)
    except Misconfigured as error:
        assert_names_its_file(error)
        return
    assert all(len(digest) == 64 for digest in admins)


def test_no_schedule_is_too_much() -> None:
    search(Target("cron", 420_000, CRONS, scheduled))


def test_no_freeze_is_too_much() -> None:
    search(Target("freeze", 33_600, freezes_of, frozen))


def test_no_date_is_too_much() -> None:
    search(Target("date", 210_000, TEXTS["until"], dated))


def test_no_address_is_too_much() -> None:
    search(Target("address", 210_000, ADDRESSES, addressed))


def test_no_list_of_people_is_too_much() -> None:
    search(Target("people", 210_000, ADMINS, admitted))
