"""Watches, histories and faults, in virtual time."""

import json
from functools import partial

import pytest

from reconciler.sandbox.faults import Fault
from tests.unit.sandbox.virtual import PODS, Virtual, virtual

MAPS = "/api/v1/namespaces/default/configmaps"


def _map(v: Virtual, name: str) -> str:
    revision: str = v.make(MAPS, {"metadata": {"name": name}})["metadata"]["resourceVersion"]
    return revision


def test_a_watch_wakes_its_reader_and_copies_nothing() -> None:
    v = virtual()
    watch = v.watch(f"{MAPS}?watch=true&resourceVersion=0")
    assert v.told(watch) == [("ADDED", "kube-root-ca.crt")]
    woken: list[bool] = []
    watch.wake = lambda: woken.append(True)
    _map(v, "a")
    assert woken == [True]
    assert v.told(watch) == [("ADDED", "a")]
    assert v.told(watch) == []


def test_bookmarks_come_only_when_asked_and_in_their_time() -> None:
    v = virtual(bookmark_seconds=60)
    revision = _map(v, "a")
    silent = v.watch(f"{MAPS}?watch=true&resourceVersion={revision}")
    marked = v.watch(f"{MAPS}?watch=true&resourceVersion={revision}&allowWatchBookmarks=true")
    assert marked.due == v.now + 60
    v.now += 61
    assert v.told(silent) == []
    (line,) = marked.take(v.now).splitlines()
    mark = json.loads(line)
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"] == {"resourceVersion": str(v.sandbox.world.store.revision)}


def test_a_watch_ends_at_its_timeout() -> None:
    v = virtual()
    watch = v.watch(f"{MAPS}?watch=true&timeoutSeconds=5")
    v.now += 4
    v.told(watch)
    assert not watch.ended
    v.now += 2
    v.told(watch)
    assert watch.ended


def _told_marks(v: Virtual, query: str, *, until: float) -> list[tuple[str, str]]:
    watch = v.watch(f"{MAPS}?watch=true&{query}")
    lines = watch.take(v.now)
    while watch.due is not None and watch.due <= until:
        v.now = max(v.now, watch.due)
        lines += watch.take(v.now)
    events = [json.loads(line) for line in lines.splitlines()]
    return [(one["type"], one["object"]["metadata"].get("name", "")) for one in events]


def test_a_last_bookmark_comes_two_seconds_before_the_end() -> None:
    v = virtual(bookmark_seconds=60)
    query = f"resourceVersion={_map(v, 'a')}&allowWatchBookmarks=true"
    begun = v.now
    assert _told_marks(v, f"{query}&timeoutSeconds=5", until=begun + 4) == [("BOOKMARK", "")]
    assert v.now == begun + 3
    assert _told_marks(v, f"{query}&timeoutSeconds=1", until=v.now + 0.5) == []


@pytest.mark.parametrize(
    ("query", "ends"),
    [
        pytest.param("allowWatchBookmarks=true", True, id="a watch from nowhere, with bookmarks"),
        pytest.param("allowWatchBookmarks", True, id="a flag without a value is yes"),
        pytest.param("allowWatchBookmarks=false", False, id="a watch from nowhere, without"),
        pytest.param("resourceVersion=0", False, id="a watch from any revision, without"),
    ],
)
def test_a_reader_of_bookmarks_hears_where_the_present_begins(query: str, ends: bool) -> None:
    v = virtual()
    told = _told_marks(v, query, until=v.now)
    assert told == [("ADDED", "kube-root-ca.crt"), *([("BOOKMARK", "")] if ends else [])]


def test_a_pod_that_goes_at_once_is_told_of_twice() -> None:
    v = virtual()
    spec = {"schedulerName": "nobody", "containers": [{"name": "c", "image": "i"}]}
    v.make(PODS, {"metadata": {"name": "p"}, "spec": spec})
    watch = v.watch(f"{PODS}?watch=true")
    v.told(watch)
    v.ask("DELETE", f"{PODS}/p")
    assert v.told(watch) == [("MODIFIED", "p"), ("DELETED", "p")]


def test_a_watch_from_a_forgotten_revision_is_told_so() -> None:
    v = virtual()
    revision = _map(v, "a")
    _map(v, "b")
    v.sandbox.expire_history()
    watch = v.watch(f"{MAPS}?watch=true&resourceVersion={revision}")
    assert v.told(watch) == [("ERROR", "410")]
    assert watch.ended


def test_a_reader_too_slow_for_the_history_is_told_so() -> None:
    v = virtual(history=4)
    watch = v.watch(f"{MAPS}?watch=true&resourceVersion={_map(v, 'a')}")
    for number in range(12):
        _map(v, f"m{number}")
    assert v.told(watch) == [("ERROR", "410")]
    assert watch.ended


def test_an_expired_page_offers_an_inconsistent_rest() -> None:
    v = virtual()
    for name in "abc":
        _map(v, name)
    first = v.read("GET", f"{MAPS}?limit=2")
    v.sandbox.expire_history()
    token = first["metadata"]["continue"]
    _map(v, "d")
    v.sandbox.expire_history()
    expired = v.read("GET", f"{MAPS}?limit=2&continue={token}")
    assert (expired["code"], expired["reason"]) == (410, "Expired")
    again = expired["metadata"]["continue"]
    rest = v.read("GET", f"{MAPS}?continue={again}")
    assert [one["metadata"]["name"] for one in rest["items"]] == ["c", "d", "kube-root-ca.crt"]


def test_an_exact_list_shows_the_past() -> None:
    v = virtual()
    revision = _map(v, "a")
    _map(v, "b")
    query = f"resourceVersion={revision}&resourceVersionMatch=Exact"
    names = [one["metadata"]["name"] for one in v.read("GET", f"{MAPS}?{query}")["items"]]
    assert names == ["a", "kube-root-ca.crt"]
    v.sandbox.expire_history()
    assert v.read("GET", f"{MAPS}?{query}")["code"] == 410


def test_a_list_of_the_future_is_kept_back_before_it_fails() -> None:
    v = virtual()
    answer = v.ask("GET", f"{MAPS}?resourceVersion=9999999")
    assert (answer.status, answer.delay_seconds) == (504, 3.0)


@pytest.mark.parametrize(
    ("executed", "status_after"),
    [
        pytest.param(False, 404, id="the request never arrived"),
        pytest.param(True, 200, id="only its answer was lost"),
    ],
)
def test_a_fault_answers_instead(executed: bool, status_after: int) -> None:
    v = virtual()
    v.sandbox.faults.plant(
        Fault(verbs=("create",), status=503, executed=executed, retry_after_seconds=2)
    )
    answer = v.ask("POST", MAPS, {"metadata": {"name": "a"}})
    assert answer.status == 503
    assert answer.headers == (("Retry-After", "2"),)
    assert v.ask("GET", f"{MAPS}/a").status == status_after
    assert v.ask("POST", MAPS, {"metadata": {"name": "b"}}).status == 201


def test_faults_count_their_matches() -> None:
    v = virtual()
    v.sandbox.faults.plant(Fault(kind="ConfigMap", after=1, times=2, status=500))
    seen = [v.ask("GET", MAPS).status for _ in range(4)]
    assert seen == [200, 500, 500, 200]


def test_a_delayed_answer_says_for_how_long() -> None:
    v = virtual()
    v.sandbox.faults.plant(Fault(delay_seconds=1.5))
    assert v.ask("GET", MAPS).delay_seconds == 1.5


def test_a_stale_read_shows_what_was() -> None:
    v = virtual()
    _map(v, "a")
    v.sandbox.faults.plant(Fault(kind="ConfigMap", times=2, stale_revisions=1))
    assert v.ask("GET", f"{MAPS}/a").status == 404
    names = [one["metadata"]["name"] for one in v.read("GET", MAPS)["items"]]
    assert names == ["kube-root-ca.crt"]
    assert v.ask("GET", f"{MAPS}/a").status == 200


def test_a_cut_watch_ends_after_so_many_events() -> None:
    v = virtual()
    v.sandbox.faults.plant(Fault(verbs=("watch",), cut_after=1))
    watch = v.watch(f"{MAPS}?watch=true&resourceVersion={_map(v, 'a')}")
    _map(v, "b")
    _map(v, "c")
    assert v.told(watch) == [("ADDED", "b")]
    assert watch.ended


def test_a_closed_watch_is_forgotten() -> None:
    v = virtual()
    watch = v.watch(f"{PODS}?watch=true")
    shelf = next(
        shelf for kind, shelf in v.sandbox.world.store.shelves.items() if kind.kind == "Pod"
    )
    assert watch in shelf.watchers
    watch.close()
    assert not shelf.watchers


def test_who_watched_first_is_told_first() -> None:
    v = virtual()
    told: list[int] = []
    watches = [v.watch(f"{MAPS}?watch=true") for _ in range(50)]
    for number, watch in enumerate(watches):
        watch.wake = partial(told.append, number)
    _map(v, "a")
    assert told == list(range(50))
