from dataclasses import replace

from reconciler.model.holds import Hold, HoldKind
from reconciler.model.plan_objects import DesiredObject
from reconciler.model.refs import ObjectRef, WorkloadKey
from reconciler.model.wanted import Wanted
from tests.unit.core.making import a_key, a_workload, wanted

ARENA, LOBBY, PLAZA = a_key("arena"), a_key("lobby"), a_key("plaza")
WHOLE = Hold(HoldKind.UNREADABLE, None, "x.yaml cannot be read")
ONE = Hold(HoldKind.SUSPENDED, ARENA, "suspended")
OTHER = Hold(HoldKind.FINDING, ARENA, "broken")
WANTED = Wanted("c1", {ARENA: wanted(a_workload())}, frozenset({LOBBY}), (WHOLE, ONE, OTHER))


def test_holds_are_found_by_workload_without_those_of_the_whole_commit() -> None:
    assert WANTED.holds_of(ARENA) == (ONE, OTHER)
    assert WANTED.holds_of(PLAZA) == ()


def test_there_is_something_to_do_about_what_is_wanted_and_what_goes() -> None:
    assert WANTED.keys == {ARENA, LOBBY}


def test_snapshots_of_the_same_are_equal() -> None:
    assert Wanted("c1", WANTED.effective, WANTED.deleting, WANTED.holds) == WANTED


def test_an_object_is_asked_for_elsewhere_where_another_of_the_namespace_wants_it() -> None:
    duel, quake = (WorkloadKey("Fleet", "servers", name) for name in ("duel", "quake"))
    maps, rules = (ObjectRef("v1", "ConfigMap", "servers", name) for name in ("maps", "rules"))
    plain = wanted(a_workload())
    asking = replace(plain, objects=(*plain.objects, DesiredObject(maps, {}, "")))
    snapshot = Wanted("c1", {duel: plain, quake: asking})
    assert snapshot.asked_by_others(duel, (maps, rules)) == {maps}
    assert snapshot.asked_by_others(quake, (maps, rules)) == frozenset()
    account = next(item.ref for item in plain.objects if item.ref.kind == "ServiceAccount")
    assert snapshot.asked_by_others(duel, (account,)) == frozenset()


def test_neighbours_are_who_is_wanted_or_going_in_the_same_namespace() -> None:
    duel, quake, other = (
        WorkloadKey("Fleet", namespace, name)
        for namespace, name in (("servers", "duel"), ("servers", "quake"), ("events", "duel"))
    )
    effective = {key: wanted(a_workload()) for key in (duel, other)}
    snapshot = Wanted("c1", effective, frozenset({quake}))
    assert list(snapshot.neighbours(duel)) == [quake]
    assert list(snapshot.neighbours(quake)) == [duel]
    assert list(snapshot.neighbours(other)) == []
    assert list(snapshot.without(quake).neighbours(duel)) == []
