import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.fields import compare_fields
from reconciler.model.changes import FieldChange
from tests.canaries.places import canary

HUSH = canary("container value")


def compare(before: object, after: object) -> list[tuple[str, object, object]]:
    found = compare_fields(json.dumps(before), json.dumps(after))
    return [(item.path, item.before, item.after) for item in found]


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        pytest.param({"a": 1}, {"a": 1}, [], id="what is equal"),
        pytest.param({"a": {"b": 1}}, {"a": {"b": 2}}, [("a.b", 1, 2)], id="the innermost field"),
        pytest.param({"a": 1}, {}, [("a", 1, None)], id="a field that went"),
        pytest.param({}, {"a": 0}, [("a", None, 0)], id="a field that came"),
        pytest.param(
            {"a": [{"b": 1}, 2]}, {"a": [{"b": 3}, 2]}, [("a[0].b", 1, 3)], id="a list item"
        ),
        pytest.param({"a": [1]}, {"a": [1, 2]}, [("a", [1], [1, 2])], id="a list that grew"),
        pytest.param({"a": {}}, {"a": []}, [("a", {}, [])], id="another type"),
        pytest.param({"a": 1}, {"a": True}, [("a", 1, True)], id="a number that became true"),
        pytest.param(
            {"b": 1, "a": 1}, {"b": 2, "a": 2}, [("b", 1, 2), ("a", 1, 2)], id="in document order"
        ),
    ],
)
def test_differing_fields_are(before: object, after: object, fields: list[Any]) -> None:
    found = compare(before, after)
    assert found == fields
    assert [type(item[2]) for item in found] == [type(item[2]) for item in fields]


values = st.recursive(
    st.integers(0, 3) | st.booleans() | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
)


@given(values, values)
def test_documents_differ_in_some_field_or_are_equal(one: object, other: object) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (not compare(one, other)) is same
    swapped = compare_fields(json.dumps(other), json.dumps(one))
    assert {FieldChange(c.path, c.after, c.before).path for c in swapped} == {
        path for path, _, _ in compare(one, other)
    }


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        pytest.param(
            [{"name": "LOBBY_TOKEN", "value": HUSH}],
            [{"name": "LOBBY_TOKEN", "value": "psst"}],
            [("[0].value", "*** (before)", "*** (after)")],
            id="a secret that changed",
        ),
        pytest.param(
            [],
            [{"name": "DB_PASSWORD", "value": HUSH}, {"name": "MAP", "value": "desert"}],
            [
                (
                    "",
                    [],
                    [
                        {"name": "DB_PASSWORD", "value": "*** (after)"},
                        {"name": "MAP", "value": "desert"},
                    ],
                )
            ],
            id="a secret that came",
        ),
        pytest.param(
            [{"name": "MAP", "value": "desert"}],
            [{"name": "MAP", "value": "ice"}],
            [("[0].value", "desert", "ice")],
            id="what is no secret is shown",
        ),
        pytest.param(
            [{"name": "RCON_PWD", "value": HUSH}, {"name": "dbPass", "value": HUSH}],
            [{"name": "RCON_PWD", "value": "psst"}, {"name": "dbPass", "value": "psst"}],
            [
                ("[0].value", "*** (before)", "*** (after)"),
                ("[1].value", "*** (before)", "*** (after)"),
            ],
            id="short words for secrets",
        ),
        *(
            pytest.param(
                [{"name": name, "value": HUSH}],
                [{"name": name, "value": "psst"}],
                [("[0].value", "*** (before)", "*** (after)")],
                id=f"a name of one word: {name}",
            )
            for name in ("MYPWD", "DBPASS", "DBPass", "RCONpw", "sshkey", "pass1", "SLACK_WEBHOOK")
        ),
        pytest.param(
            {"args": ["--map", "desert"]},
            {"args": [f"MYPWD={HUSH}", f"--dbpass={HUSH}", f"-srvpw {HUSH}"]},
            [
                (
                    "args",
                    ["--map", "desert"],
                    ["MYPWD=*** (after)", "--dbpass=*** (after)", "-srvpw *** (after)"],
                )
            ],
            id="such names in arguments",
        ),
        pytest.param(
            {"template": {"metadata": {"annotations": {"example.org/token": HUSH, "team": "a"}}}},
            {"template": {"metadata": {"annotations": {"example.org/token": "x", "team": "b"}}}},
            [
                (
                    "template.metadata.annotations.example.org/token",
                    "*** (before)",
                    "*** (after)",
                ),
                ("template.metadata.annotations.team", "a", "b"),
            ],
            id="an annotation",
        ),
        pytest.param(
            {},
            {"metadata": {"labels": {"example.org/token": HUSH}, "name": "arena"}},
            [
                (
                    "metadata",
                    None,
                    {"labels": {"example.org/token": "*** (after)"}, "name": "arena"},
                )
            ],
            id="a label that came",
        ),
        pytest.param(
            {"objects": {"ConfigMap/a": {"kind": "ConfigMap", "data": {"db.password": HUSH}}}},
            {"objects": {"ConfigMap/a": {"kind": "ConfigMap", "data": {"db.password": "psst"}}}},
            [("objects.ConfigMap/a.data.db.password", "*** (before)", "*** (after)")],
            id="an entry of a ConfigMap beside a spec",
        ),
        pytest.param(
            [{"name": "MAX_PASSENGERS", "value": "4"}, {"name": "KEYBOARD", "value": "on"}],
            [{"name": "MAX_PASSENGERS", "value": "5"}, {"name": "KEYBOARD", "value": "off"}],
            [("[0].value", "4", "5"), ("[1].value", "on", "off")],
            id="words that only hold such a word",
        ),
        pytest.param(
            {"args": ["--map", "desert", f"--db-pass={HUSH}", "+rcon_password", HUSH]},
            {"args": ["--map", "ice", "--db-pass=psst", "+rcon_password", "psst"]},
            [
                ("args[1]", "desert", "ice"),
                ("args[2]", "--db-pass=*** (before)", "--db-pass=*** (after)"),
                ("args[4]", "*** (before)", "*** (after)"),
            ],
            id="arguments",
        ),
        pytest.param(
            {"command": ["sh", "-c", "srcds +map desert"]},
            {"command": ["sh", "-c", f"RCON_PWD='{HUSH} x' srcds +rcon_password {HUSH} +map ice"]},
            [
                (
                    "command[2]",
                    "srcds +map desert",
                    "RCON_PWD=*** srcds +rcon_password *** +map ice (after)",
                )
            ],
            id="a line of a shell",
        ),
        pytest.param(
            {"command": ["sh", "-c", "start"]},
            {
                "command": [
                    "sh",
                    "-c",
                    f"curl -su admin:{HUSH} --proxy-user='a:{HUSH} x' -uz:{HUSH}",
                ]
            },
            [
                (
                    "command[2]",
                    "start",
                    "curl -su admin:*** --proxy-user='a:***' -uz:*** (after)",
                )
            ],
            id="logins in a line of a shell",
        ),
        pytest.param(
            {"command": ["sh", "-c", "start"]},
            {"command": ["sh", "-c", "run --user 1000:1000 -u game -u http://eu.example:80"]},
            [
                (
                    "command[2]",
                    "start",
                    "run --user 1000:1000 -u game -u http://eu.example:80",
                )
            ],
            id="what is no login",
        ),
        pytest.param(
            {"args": ["-u", "admin:psst", "--user", "7:7"]},
            {"args": ["-u", f"admin:{HUSH}", "--user", "8:8"]},
            [("args[1]", "*** (before)", "*** (after)"), ("args[3]", "7:7", "8:8")],
            id="a login as an argument of its own",
        ),
        pytest.param(
            {"args": ["+set", "rconpassword", "psst", "+set", "g_map", "ice", "+login", "me", "a"]},
            {"args": ["+set", "rconpassword", HUSH, "+set", "g_map", "bay", "+login", "me", HUSH]},
            [
                ("args[2]", "*** (before)", "*** (after)"),
                ("args[5]", "ice", "bay"),
                ("args[8]", "*** (before)", "*** (after)"),
            ],
            id="a secret that is set, and a login of Steam",
        ),
        pytest.param(
            {"args": ["--map", "desert"]},
            {"args": ["--map", "desert", "--token", HUSH]},
            [("args", ["--map", "desert"], ["--map", "desert", "--token", "*** (after)"])],
            id="arguments that came",
        ),
        pytest.param(
            {"kind": "Secret", "data": {"a": HUSH}},
            {"kind": "Secret", "data": {"a": "psst", "b": HUSH}},
            [
                ("data.a", "*** (before)", "*** (after)"),
                ("data.b", "*** (before)", "*** (after)"),
            ],
            id="the data of a Secret",
        ),
        pytest.param(
            {"kind": "ConfigMap", "data": {"db.password": HUSH, "motd": "hello"}},
            {"kind": "ConfigMap", "data": {"db.password": "psst", "motd": "bye"}},
            [
                ("data.db.password", "*** (before)", "*** (after)"),
                ("data.motd", "hello", "bye"),
            ],
            id="an entry of a ConfigMap that is named like a secret",
        ),
        pytest.param(
            {"kind": "ConfigMap"},
            {"kind": "ConfigMap", "binaryData": {"db.password": HUSH, "map": "AAEC"}},
            [("binaryData", None, {"db.password": "*** (after)", "map": "AAEC"})],
            id="and one of its binary data",
        ),
        pytest.param(
            {"kind": "ConfigMap", "data": {"server.cfg": "hostname duel\n"}},
            {
                "kind": "ConfigMap",
                "data": {"server.cfg": f'rcon_password "{HUSH}"\n DB_PWD = {HUSH} \nmap ice\n'},
            },
            [
                (
                    "data.server.cfg",
                    "hostname duel\n",
                    "rcon_password ***\n DB_PWD = ***\nmap ice\n (after)",
                )
            ],
            id="lines of a server's configuration",
        ),
        pytest.param(
            {"metadata": {"annotations": {"gamekeeper.dev/sensitive": "true"}}, "data": {"a": "b"}},
            {
                "metadata": {"annotations": {"gamekeeper.dev/sensitive": "true"}},
                "data": {"a": HUSH},
            },
            [("data.a", "*** (before)", "*** (after)")],
            id="an object that says it is sensitive",
        ),
        pytest.param(
            {"httpHeaders": [{"name": "Authorization", "value": f"Digest {HUSH}"}]},
            {"httpHeaders": [{"name": "Authorization", "value": "Digest b"}]},
            [("httpHeaders[0].value", "*** (before)", "*** (after)")],
            id="the header by which a probe is let in",
        ),
        pytest.param(
            {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": HUSH}},
            {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}},
            [
                (
                    "annotations.kubectl.kubernetes.io/last-applied-configuration",
                    "*** (before)",
                    "*** (after)",
                )
            ],
            id="what kubectl remembers",
        ),
    ],
)
def test_secrets_are_masked(before: object, after: object, fields: list[Any]) -> None:
    assert compare(before, after) == fields


@pytest.mark.parametrize("name", ["containers", "initContainers"])
def test_an_image_is_no_secret_whatever_its_registry_is_called(name: str) -> None:
    one, other = (f"private.registry:5000/game:{version}" for version in (1, 2))
    found = compare({name: [{"image": one}]}, {name: [{"image": other}]})
    assert found == [(f"{name}[0].image", one, other)]
    hidden = {name: [{"image": f"https://me:{HUSH}@a/game"}]}
    ((_, told, _),) = compare(hidden, {name: [{"image": one}]})
    assert HUSH not in str(told)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f'curl -u "$USER":"{HUSH}" x', 'curl -u "$USER":"***" x (after)'),
        (f"curl -u 'admin':'{HUSH}' x", "curl -u 'admin':'***' x (after)"),
        (f'curl -u admin:"a {HUSH}" x', 'curl -u admin:"***" x (after)'),
        (f"curl -u admin:a\\ {HUSH} x", "curl -u admin:*** x (after)"),
        (f'"-u admin:{HUSH}" x', '"-u admin:***" x (after)'),
        (f"-menu -u admin:{HUSH}", "-menu -u admin:*** (after)"),
        (f"curl -u admin://{HUSH}", "curl -u admin:*** (after)"),
        (f'"-u", "admin:{HUSH}"', '"-u", "admin:***" (after)'),
        (f'sh -c "run --db-pass=x{HUSH} y"', 'sh -c "run --db-pass=*** y" (after)'),
        (f"run --verbose --token {HUSH} y", "run --verbose --token *** y (after)"),
        (f"run --auth --token {HUSH} y", "run --auth *** *** y (after)"),
        (f"docker run -e DB_PASS={HUSH} y", "docker run -e DB_PASS=*** y (after)"),
        (f"DB_PASS=ab'c {HUSH}' y", "DB_PASS=*** y (after)"),
        ("run -u 7:7 --map a:b -u https://x", "run -u 7:7 --map a:b -u https://x"),
        (
            "run -url=http://a -Durl=https://b",
            "run -url=http://a -Durl=https://b",
        ),
        (f"docker run --env=DB_PASS={HUSH} x", "docker run --env=DB_PASS=*** x (after)"),
    ],
)
def test_of_a_line_of_a_shell_no_word_of_a_secret_is_left(line: str, told: str) -> None:
    before, after = ({"args": [each]} for each in ("", line))
    (found,) = compare_fields(json.dumps(before), json.dumps(after))
    assert found.after == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f'rcon_password "{HUSH}" // ours', "rcon_password *** // ours (after)"),
        (f"rcon_password {HUSH} // ours", "rcon_password *** (after)"),
        (f"sv_password {HUSH}; hostname y", "sv_password *** (after)"),
        (f"hostname y; sv_password {HUSH}", "hostname y; sv_password *** (after)"),
        (f'sv_password "x {HUSH}"; hostname y', "sv_password ***; hostname y (after)"),
        (f'seta sv_password "{HUSH}"', "seta sv_password *** (after)"),
        (f"#rcon_password {HUSH}", "#rcon_password *** (after)"),
        (f"password: correct {HUSH} battery", "password: *** (after)"),
        (f"password=correct {HUSH}", "password=*** (after)"),
        (f"rcon.password=correct {HUSH}", "rcon.password=*** (after)"),
        (f"users:\n- pass: {HUSH}\n  name: x", "users:\n- pass: ***\n  name: x (after)"),
        (
            f'{{\n  "adminPass": "{HUSH}",\n  "port": 1\n}}',
            '{\n  "adminPass": ***,\n  "port": 1\n} (after)',
        ),
        (
            f'{{"rconPwd":"a\\"{HUSH}","psk": "x {HUSH}","port":1}}',
            '{"rconPwd":***,"psk": ***,"port":1} (after)',
        ),
        (f'{{"port": 1, "authKey": "{HUSH}"}}', '{"port": 1, "authKey": ***} (after)'),
        ('{"enableAuth": true, "map": "ice"}', '{"enableAuth": ***, "map": "ice"} (after)'),
        (
            '[{"psk": -1.5e3}, {"map": "ice"}, {"pw":12 , "x": [{"key":null}]}]',
            '[{"psk": ***}, {"map": "ice"}, {"pw":*** , "x": [{"key":***}]}] (after)',
        ),
        (f'"pw": 12,{HUSH}', '"pw": *** (after)'),
        (f"pw: 12, {HUSH}", "pw: *** (after)"),
        (f'"pw": true {HUSH}', '"pw": *** (after)'),
        (
            f"-authkey {HUSH} +map ice +maxplayers 16",
            "-authkey *** +map ice +maxplayers 16 (after)",
        ),
        (f"-authkey={HUSH} +map ice", "-authkey=*** +map ice (after)"),
        (f"-psk = {HUSH} -x", "-psk = *** -x (after)"),
        (f"--psk : {HUSH} x", "--psk : *** (after)"),
        (f"-password: correct {HUSH}", "-password: *** (after)"),
        (f"-token:correct {HUSH}", "-token:*** (after)"),
        (f"-psk: ***x {HUSH}", "-psk: *** (after)"),
        (f"-Dkeystore.password=correct {HUSH}", "-Dkeystore.password=*** (after)"),
        (f"-password correct {HUSH}", "-password *** (after)"),
        (f"-password correct -9{HUSH}", "-password *** (after)"),
        (f"-rcon_password correct - {HUSH}", "-rcon_password *** (after)"),
        (f"-pass:{HUSH} x", "-pass:*** (after)"),
        (f"a;-psk {HUSH} x", "a;-psk *** (after)"),
        (f'{{"keys": ["{HUSH}", "{HUSH}"]}}', '{"keys": ***} (after)'),
        (f'"password": "correct {HUSH}"', '"password": *** (after)'),
        (f"rcon: {{pass: {HUSH}, port: 1}}", "rcon: {pass: ***, port: 1} (after)"),
        (f'psk "{HUSH}', "psk *** (after)"),
        (
            f"tls: |\n  -----BEGIN PRIVATE KEY-----\n  {HUSH}\n  -----END PRIVATE KEY-----\na: b",
            "tls: |\n  -----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----\na: b (after)",
        ),
        (
            f"TLS_KEY=-----BEGIN PRIVATE KEY-----\nMII\n{HUSH}\n-----END PRIVATE KEY-----\na=b",
            "TLS_KEY=***\na=b (after)",
        ),
        (
            f"--tls-key=-----BEGIN PRIVATE KEY-----\n{HUSH}\n-----END PRIVATE KEY-----",
            "--tls-key=*** (after)",
        ),
        ('"auth": {\n  "port": 1\n},\n"a": 1', '"auth": ***,\n"a": 1 (after)'),
        (
            'hostname: duel; map ice\nmotd: a kind word, key in hand\n"max": 4, "x": [1]\n',
            'hostname: duel; map ice\nmotd: a kind word, key in hand\n"max": 4, "x": [1]\n',
        ),
    ],
)
@pytest.mark.parametrize("place", ["ConfigMap", "env"])
def test_of_a_servers_own_configuration_no_word_of_a_secret_is_left(
    place: str, text: str, told: str
) -> None:
    def held(value: str) -> object:
        variable = {"name": "SERVER_CFG", "value": value}
        return {"data": {"server.cfg": value}} if place == "ConfigMap" else {"env": [variable]}

    ((_, _, after),) = compare(held("-"), held(text))
    assert after == told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"x <<E\nrcon_password {HUSH}\nE", "x <<E\nrcon_password ***\nE (after)"),
        (f'x <<E\n{{"psk": "{HUSH}", "a": 1}}\nE', 'x <<E\n{"psk": ***, "a": 1}\nE (after)'),
        (
            f"run --tls-key -----BEGIN PRIVATE KEY-----\n{HUSH}\n-----END PRIVATE KEY-----\n",
            "run --tls-key *** PRIVATE KEY-----***-----END PRIVATE KEY-----\n (after)",
        ),
        ("auth-server --map ice", "auth-server --map ice"),
        (f"rcon_password ab;{HUSH}", "rcon_password *** (after)"),
        (f"pass: ab;{HUSH} x", "pass: *** (after)"),
        (f"sv_pass {HUSH}; run x", "sv_pass *** (after)"),
        ('x <<E\n{"enableAuth": true, "map": 1}', 'x <<E\n{"enableAuth": ***, "map": 1} (after)'),
    ],
)
def test_a_command_is_no_name_of_a_secret(line: str, told: str) -> None:
    ((_, _, after),) = compare({"command": ["sh", "-c", ""]}, {"command": ["sh", "-c", line]})
    assert after == told


HOSTILE = (
    *('-u"', "-u '\\", '--pass "\\', "A=", '-u "a:', "-menu "),
    *('"psk":"\\', "pass ", "{pass:", ",'psk':\"", ";set ", "\n- ", " ", "key", '"', "#"),
    *(";pw:a", ';pw:a"', '"pw":1}', '"pw":1 ', '{"pw":1,', ";-pw *** ", ";-pw", "-pw = ", "-pw ="),
    "-----BEGIN PRIVATE KEY-----",
)


@pytest.mark.parametrize("part", HOSTILE)
@pytest.mark.parametrize("path", ["a", "args"])
def test_a_long_hostile_text_takes_no_long_time(path: str, part: str) -> None:
    line = part * (500_000 // len(part)) + '"'
    began = time.process_time()
    compare_fields(json.dumps({path: [""]}), json.dumps({path: [line]}))
    assert time.process_time() - began < 10
