import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.core.secret_texts import is_secret_name, takes_secret, without_secrets


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("pass: |\n  a\n\n  b\nmap: ice", "pass: ***\nmap: ice", id="a block"),
        pytest.param("- pass: >-\n    a\n  map: ice", "- pass: ***\n  map: ice", id="in a list"),
        pytest.param("keys:\n- a\n- b\nmap: ice", "keys:***\nmap: ice", id="a list below"),
        pytest.param('"keys": [\n"a"\n],\n"b": 1', '"keys": ***,\n"b": 1', id="a list of lines"),
        pytest.param("pass: a\n  b\nmap: ice", "pass: ***\nmap: ice", id="a line that goes on"),
        pytest.param("pass=a \\\nb\nmap=ice", "pass=***\nmap=ice", id="behind a backslash"),
        pytest.param("pass: 'a\nb'\nmap: ice", "pass: ***\nmap: ice", id="quotes over lines"),
        pytest.param('pw = """\na\n"b"\n"""\nx = 1', "pw = ***\nx = 1", id="three quotes"),
        pytest.param("pass a b\r\nmap ice\r\n", "pass ***\r\nmap ice\r\n", id="lines of Windows"),
        pytest.param("pass: ['a', b\nmap: ice", "pass: ***", id="a bracket that nothing closes"),
        pytest.param("pass: [a b\nmap: ice", "pass: ***\nmap: ice", id="a word with a bracket"),
        pytest.param("pass [a\r\nmap ice", "pass ***\r\nmap ice", id="such a word of Windows"),
        pytest.param("keys: [a,\nb]\nmap: ice", "keys: ***\nmap: ice", id="a list of such words"),
        pytest.param("keys: [a,\r\nb]\r\nx: 1", "keys: ***\r\nx: 1", id="and one of Windows"),
        pytest.param('"PASS="a b', '"PASS=***', id="quotes that close before it"),
        pytest.param("'pass: 'a b''", "'pass: ***", id="quotes within quotes"),
        pytest.param('["PASS=", 1]', '["PASS=", 1]', id="nothing in quotes"),
        pytest.param('"auth": a:b,c:d', '"auth": ***', id="a comma and a colon in it"),
        pytest.param("{keys: a:b,c:d, x: y}", "{keys: ***, x: y}", id="and in a flow"),
        pytest.param('"secret": a,b=c', '"secret": ***', id="a comma and an equals sign in it"),
        pytest.param('"pass": a} , b', '"pass": ***', id="a bracket in it that opened nowhere"),
        pytest.param('"pass": 1, "map": 2', '"pass": ***, "map": 2', id="a line of JSON"),
        pytest.param("{pass: x, map: ice}", "{pass: ***, map: ice}", id="a flow"),
        pytest.param("{pass: a}b, map: ice}", "{pass: ***, map: ice}", id="a bracket in a word"),
        pytest.param("{pass: {cipher}a b}", "{pass: ***", id="words behind a bracket"),
        pytest.param("A=(a=1,adminPass=x,b=2)", "A=(a=1,adminPass=***,b=2)", id="a game's options"),
        pytest.param(
            '{\\"psk\\":\\"a b\\",\\"x\\":1}', '{\\"psk\\":***,\\"x\\":1}', id="JSON in it"
        ),
        pytest.param("$a['pass'] = 'a b';", "$a['pass'] = ***;", id="a key in brackets"),
        pytest.param("<rconPass>a b</rconPass>", "<rconPass>***", id="an element"),
        pytest.param('<p name="pw" value="a"', '<p name="pw" value=***', id="a named element"),
        pytest.param(
            "- name: DB_PASS\n  value: |\n    a\n- name: MAP\n  value: ice",
            "- name: DB_PASS\n  value: ***\n- name: MAP\n  value: ice",
            id="a variable of a list",
        ),
        pytest.param(
            '{"name": "PSK", "value": "a", "b": 1}',
            '{"name": "PSK", "value": ***, "b": 1}',
            id="in JSON",
        ),
        pytest.param("example.org/token: a b", "example.org/token: ***", id="an annotation"),
        pytest.param(
            'bind x "rcon_pass a b"; map y', 'bind x "rcon_pass ***"; map y', id="a command"
        ),
        pytest.param('x "X-Auth: a b" y', 'x "X-Auth: ***" y', id="a header"),
        pytest.param("--token a -- b +map ice", "--token ***", id="signs without a letter"),
        pytest.param('["--token", "a b"]', '["--token", ***]', id="a flag in a list"),
        pytest.param(
            '["--pw","a","--map"]', '["--pw",***,"--map"]', id="such a list without blanks"
        ),
        pytest.param("x +set rconpw a +map ice", "x +set rconpw *** +map ice", id="a set"),
        pytest.param('["+set", "rconpw", "a b"]', '["+set", "rconpw", ***]', id="a set in a list"),
        pytest.param("- +set\n- psk\n- a\n- x", "- +set\n- psk\n- ***\n- x", id="below each other"),
        pytest.param("x +login me a +quit", "x +login me *** +quit", id="a login of Steam"),
        pytest.param("x +login $ME a", "x +login $ME ***", id="a login of a variable"),
        pytest.param("+login me \\\n a +quit", "+login me \\\n *** +quit", id="one over lines"),
        pytest.param("x +login me +quit", "x +login me +quit", id="a login that is remembered"),
        pytest.param("x +login anonymous +a", "x +login anonymous +a", id="a login of nobody"),
        pytest.param("x +login anonymous a", "x +login anonymous a", id="nobody has no password"),
        pytest.param(
            '{"name":"PSK","value":"a"}', '{"name":"PSK","value":***}', id="in JSON without blanks"
        ),
        pytest.param(
            '{\\"name\\":\\"PSK\\",\\"value\\":\\"a\\"}',
            '{\\"name\\":\\"PSK\\",\\"value\\":***',
            id="in JSON in JSON",
        ),
        pytest.param(
            '{"key":"psk","value":"a"}', '{"key":***,"value":***}', id="a name that key names"
        ),
        pytest.param('{"a":"PASS=x y","b":1}', '{"a":"PASS=***","b":1}', id="a variable in JSON"),
        pytest.param("rcon_pass -a; map b", "rcon_pass ***", id="a word with a dash"),
        pytest.param('<pass type="plain">a</pass>', '<pass type="plain">***', id="an attribute"),
        pytest.param("<pass><![CDATA[a]]></pass>", "<pass>***", id="an element of letters"),
        pytest.param("<db:pass>a</db:pass>", "<db:pass>***", id="a space of names"),
        pytest.param("<pass>\n a\n b\n</pass>\nc", "<pass>\n ***\nc", id="an element of lines"),
        pytest.param("<auth>\n<a>b</a>", "<auth>\n<a>b</a>", id="an element of elements"),
        pytest.param("<auth/> <a>b</a>", "<auth/> <a>b</a>", id="an element of nothing"),
        pytest.param("$dbPass = 'a b';", "$dbPass = ***;", id="a variable of PHP"),
        pytest.param("$this->dbPass = 'a';", "$this->dbPass = ***;", id="an object's"),
        pytest.param('$env:PASS="a b"', "$env:PASS=***", id="a variable of PowerShell"),
        pytest.param("users[0].pass=a b", "users[0].pass=***", id="a name of an item"),
        pytest.param("auth.keys[0]=a b", "auth.keys[0]=***", id="an item of a name"),
        pytest.param("ENV PASS a b", "ENV PASS ***", id="a line of an image's recipe"),
        pytest.param('"a" { "pw" "b c" }', '"a" { "pw" *** }', id="Valve's format on one line"),
        pytest.param("pw = <<E\na\nb\n E\nx = 1", "pw = ***\nx = 1", id="lines up to a word"),
        pytest.param("pw = <<E\na\nb", "pw = ***", id="lines up to a word that is nowhere"),
        pytest.param("- --token\n- a\n- --map", "- --token\n- ***\n- --map", id="below each other"),
        pytest.param("--token \\\n  a --map ice", "--token \\\n  *** --map ice", id="over lines"),
        pytest.param("image: private.reg:5000/a:2", "image: private.reg:5000/a:2", id="an address"),
        pytest.param("pass:\n\nmap: ice", "pass:\n\nmap: ice", id="nothing"),
        pytest.param("\ufeffrcon_pass a b\nx", "\ufeffrcon_pass ***\nx", id="a mark of Windows"),
        pytest.param("\ufeff[x]\npw=a", "\ufeff[x]\npw=***", id="such a mark before another"),
        pytest.param("setx PASS a b", "setx PASS ***", id="a variable of Windows"),
        pytest.param("keys['eu'] = 'a b'", "keys['eu'] = ***", id="an item that has a name"),
        pytest.param(
            '<p name="pw">a b</p>', '<p name="pw">***', id="an element that says its name"
        ),
        pytest.param(
            '<s name="Pw" as="x"><value>a</value></s>',
            '<s name="Pw" as="x"><value>***',
            id="and its value by an element",
        ),
        pytest.param(
            "<name>a.key</name>\n<value>b</value>\nx",
            "<name>a.key</name>\n<value>***\nx",
            id="a name by an element",
        ),
        pytest.param(
            '<p name="pw" value="a"> b</p>', '<p name="pw" value=***', id="a value beside it"
        ),
        pytest.param('<p name="pw"/><b>c</b>', '<p name="pw"/><b>c</b>', id="no value in it"),
        pytest.param('name="pw a b"', 'name="pw ***"', id="a name that says both"),
        pytest.param("x name=PW=a > b", "x name=PW=***", id="a name, its value and no tag"),
        pytest.param("<key>a b</key>", "<key>***", id="an element that is a key"),
        pytest.param("x --name=auth a > b", "x --name=auth a > b", id="a name and no tag"),
        pytest.param("define('DB_PW', 'a b');", "define('DB_PW', ***);", id="a constant of PHP"),
        pytest.param('getenv("PSK", "a b")', 'getenv("PSK", ***)', id="what is so without it"),
        pytest.param('"f(\\"PW\\", \\"a b\\")"', '"f(\\"PW\\", ***', id="a call within quotes"),
        pytest.param('SetConvar("rcon_pw","a")', 'SetConvar("rcon_pw",***)', id="a call of Lua"),
    ],
)
def test_of_a_configuration_is_masked(text: str, told: str) -> None:
    assert without_secrets(text, in_shell=False) == told
    assert without_secrets(told, in_shell=False) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("rcon_pass correct horse", "rcon_pass ***", id="an argument with blanks"),
        pytest.param("-pass correct horse", "-pass ***", id="a flag with its words"),
        pytest.param("run -pass correct horse", "run -pass *** horse", id="a flag's one word"),
        pytest.param("x --a '--pass=a b' y", "x --a '--pass=***' y", id="a flag in quotes"),
        pytest.param("curl -H 'X-Auth: a b' y", "curl -H 'X-Auth: ***' y", id="a header"),
        pytest.param('x -e "PW=a"b y', 'x -e "PW=*** y', id="letters behind quotes"),
        pytest.param('x "PW=a"$b y', 'x "PW=*** y', id="a variable behind quotes"),
        pytest.param('{"pw":a]"b}', '{"pw":***}', id="a bracket and a quote in it"),
        pytest.param('{"pw":a]\\?b}', '{"pw":***}', id="a bracket and a backslash in it"),
        pytest.param('echo "PASS="a >> x', 'echo "PASS=*** >> x', id="quotes that close before it"),
        pytest.param("A=$(cat <<E\na\nE\n) x", "A=$(cat <<E\na\nE\n) x", id="what is no secret"),
        pytest.param("PW=$(cat <<E\na\nE\n) x", "PW=*** x", id="lines up to a word"),
        pytest.param("PW=$(say (a) b) -x", "PW=*** -x", id="what a command says"),
        pytest.param("PW=`say a b` -x", "PW=*** -x", id="what a command in the old signs says"),
        pytest.param('"a; PW=\\"a b\\" x"', '"a; PW=*** x"', id="hidden quotes"),
        pytest.param('sh -c "x --pw \\"a b\\" y"', 'sh -c "x --pw *** y"', id="a flag with such"),
        pytest.param("PASS=a b", "PASS=***", id="an argument that is a variable"),
        pytest.param(
            "PASS=a ./b --map ice", "PASS=*** ./b --map ice", id="a variable before a command"
        ),
        pytest.param("rcon_pass -a; map b", "rcon_pass ***", id="what is no command with a flag"),
        pytest.param("printf 'a\\npass b c\\n'", "printf 'a\\npass ***", id="a line within a word"),
        pytest.param("echo pass a b >> c", "echo pass ***", id="what is written to a file"),
        pytest.param("x -passin pass:a -y", "x -passin *** -y", id="a flag of openssl"),
        pytest.param('DB_PASS="a\nb" run', "DB_PASS=*** run", id="quotes over lines"),
        pytest.param("DB_PASS=x run --map ice", "DB_PASS=*** run --map ice", id="a variable"),
        pytest.param("auth-server --map ice", "auth-server --map ice", id="a command"),
        pytest.param("sh -c 'auth -x y'", "sh -c 'auth -x y'", id="a command in quotes"),
        pytest.param("auth-server -x", "auth-server ***", id="what may be a secret of one word"),
        pytest.param("x <<E\npass: |\n  a\nE", "x <<E\npass: ***\nE", id="a file within"),
        pytest.param("pass = a b", "pass = ***", id="an entry of such a file"),
        pytest.param("PASS= run", "PASS= ***", id="what is no variable of a shell"),
        pytest.param("run --pass", "run --pass", id="nothing"),
        pytest.param("x=`PGPW=a psql -c b`", "x=`PGPW=*** psql -c b`", id="within the old signs"),
        pytest.param("say 'pw' > x", "say 'pw' > x", id="what is written, and no tag"),
    ],
)
def test_of_a_line_of_a_shell_is_masked(text: str, told: str) -> None:
    assert without_secrets(text, in_shell=True) == told
    assert without_secrets(told, in_shell=True) == told


@pytest.mark.parametrize(
    ("before", "flag", "value", "takes"),
    [
        ("", "--token", "", True),
        ("", "--map", "ice", False),
        ("", "--token=x", "ice", False),
        ("", "-u", "admin:x", True),
        ("", "-u", "7:7", False),
        ("+set", "rconpassword", "x", True),
        ("--seta", "rconpassword", "x", True),
        ("+set", "map", "ice", False),
        ("+exec", "rconpassword", "x", False),
        ("+login", "me", "x", True),
        ("+login", "me", "+quit", False),
        ("+login", "anonymous", "x", False),
    ],
)
def test_two_arguments_take_a_secret_or_not(
    before: str, flag: str, value: str, takes: bool
) -> None:
    assert takes_secret(before, flag, value) is takes


@pytest.mark.parametrize(
    "name", ["sv_setsteamaccount", "STEAM_GSLT", "passout", "tf2GSLT", "rconpassword"]
)
def test_a_name_is_a_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["passing", "passinger", "setsteam", "login"])
def test_a_name_is_no_secrets(name: str) -> None:
    assert not is_secret_name(name)


NAMES = ("rcon_password", "DB_PASS", "sshkey", "db.psk", "apiToken")
WORDS = ("horse", "battery", "staple", "Pferdchen", "Zündkerze", "лошадь")
"""What is planted: no part of any is looked for in a name, nor stands in a form below."""
JOINS = (
    " ",
    "  ",
    ";",
    "; ",
    "=",
    ": ",
    ",",
    ", ",
    "#",
    " # ",
    " - ",
    " -9",
    "\\",
    "\\ ",
    "'",
    '"',
)
ONE_WORD_JOINS = ("=", ":", ",", "#", "-", "+", "/", "@", "$")
OPEN_FORMS = (
    "map ice\n{name} {secret}\nmap ice",
    "{name}: {secret}\nmap: ice",
    "a;{name} = {secret}",
    "{name}={secret}",
    "  - {name}: {secret}\n    map: ice",
    "set {name} {secret}",
    "export {name}={secret}",
    "# {name} {secret}",
    "// {name} = {secret}",
    "map = ice {name} = {secret}",
    "-{name} {secret}",
    "map ice\n--{name}={secret}\nmap ice",
    "run -D{name}={secret}",
    "- name: {name}\n  value: {secret}\n- name: MAP",
)
QUOTED_FORMS = (
    '{{"map": 1, "{name}": {secret}, "port": 1}}',
    '{{\n  "{name}": {secret},\n  "port": 1\n}}',
    '{{"{name}": [{secret}, {secret}], "port": 1}}',
    '"{name}": [\n{secret},\n{secret}\n],',
    '"{name}": {{"a": {{"b": {secret}}}, "c": [{secret}]}}',
    '{{"name": "{name}", "value": {secret}}}',
    '["--{name}", {secret}, "--map", "ice"]',
    "{name} {secret}; map ice",
    "{{{name}: {secret}, map: ice}}",
    "run --{name} {secret} +map ice",
)
BLOCK_FORMS = (
    "{name}: |\n  {secret}\n\n  {secret}\nmap: ice",
    "- {name}: >-\n    {secret}\n    {secret}\n  map: ice",
    "{name}:\n  - {secret}\n  - {secret}\nmap: ice",
    "{name}:\n- {secret}\n- {secret}\nmap: ice",
    "{name}:\n  a: {secret}\n  b:\n    - {secret}\nmap: ice",
    "{name}: {secret}\n  {secret}\nmap: ice",
    '{name} = """\n{secret}\n"""\nmap = 1',
)
SHELL_FORMS = (
    "run --{name} {secret} --map ice",
    "run +map ice --{name}={secret} && ls",
    "{name}={secret} run --map ice",
    "docker run -e {name}={secret} ice",
    "docker run --env={name}={secret} ice",
    "a;-{name} {secret} b",
    "curl -u admin:{secret} b",
)


def joined(joins: tuple[str, ...]) -> st.SearchStrategy[str]:
    pairs = st.lists(st.tuples(st.sampled_from(joins), st.sampled_from(WORDS)), max_size=4)
    return st.builds(
        lambda first, others: first + "".join(join + word for join, word in others),
        st.sampled_from(WORDS),
        pairs,
    )


def in_json(secret: str) -> str:
    escaped = secret.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


SECRETS = joined(JOINS)
BLOCKS = joined(tuple(join for join in JOINS if join != '"'))
FILLED = (
    st.tuples(st.just(False), st.sampled_from(OPEN_FORMS), SECRETS)
    | st.tuples(st.just(False), st.sampled_from(QUOTED_FORMS), st.builds(in_json, SECRETS))
    | st.tuples(st.just(False), st.sampled_from(BLOCK_FORMS), BLOCKS)
    | st.tuples(st.just(True), st.sampled_from(SHELL_FORMS), st.builds(shlex.quote, SECRETS))
    | st.tuples(st.just(True), st.sampled_from(SHELL_FORMS), joined(ONE_WORD_JOINS))
)


@given(FILLED, st.sampled_from(NAMES))
def test_no_planted_word_is_shown(filled: tuple[bool, str, str], name: str) -> None:
    in_shell, form, secret = filled
    told = without_secrets(form.format(name=name, secret=secret), in_shell=in_shell)
    assert [word for word in WORDS if word in told] == []
    assert name in told or "curl" in form


PLAIN = ("map", "ice", "--port", "+maxplayers", "MAP=ice", "on:", "{", "}", "[1,", '"a"', "'", "\\")
PLAIN_TEXTS = st.lists(st.sampled_from((*PLAIN, " ", "\n", "\n  ", "; ", ", ", " = "))).map("".join)


@given(PLAIN_TEXTS, st.booleans())
def test_a_text_without_a_secrets_name_is_shown_as_it_is(text: str, in_shell: bool) -> None:
    assert without_secrets(text, in_shell=in_shell) == text


PARTS = (
    *('"', "'", "\\", "{", "}", "[", "]", ",", ";", ":", "=", "-", "--", "+", " ", "\n", "\n  "),
    *("pass", "key: ", "DB_PW=", "value", "set ", "#", "//", "-u ", "a:b", "***", "\r\n", "<", ">"),
)


@given(st.lists(st.sampled_from(PARTS)).map("".join) | st.text(), st.booleans())
def test_any_text_is_read_and_none_is_longer_but_for_its_masks(text: str, in_shell: bool) -> None:
    told = without_secrets(text, in_shell=in_shell)
    kept = told.replace("***", "")
    assert len(kept) <= len(text)
    if not any(is_secret_name(word) for word in text.split()) and ":" not in text:
        assert told == text


@pytest.mark.parametrize(
    "part",
    [
        *(
            '"',
            "'",
            "\\",
            "{",
            "}",
            "- ",
            " ",
            "\n",
            ", ",
            ":",
            "pass",
            "pass ",
            '"pass',
            "\\'pw='",
        ),
        *(
            "`",
            "$(",
            "$((",
            '\\"',
            "pw=$(",
            "pw=<<a\n",
            "pw: <<a ",
            "+login a ",
            '+login "',
            "<pw ",
        ),
        *(
            "<p name='pw' ",
            "<name>pw</name>",
            "<name>pw</name> ",
            "('pw', ",
            " name='pw' ",
            "\ufeff",
            "pw['",
        ),
        *("<pw>", "+set ", "+set pw ", "\\npw ", "pw[", '"pw" "', '{"pw":a,', ".pw=", "$pw=a\\\n"),
        *("pass:{", "pass:[", '{pass:"', "pw:{}x\n", "{pw:x} ", "{pw:}}x", "pw:a, ", "pw=\\\n"),
        *("pass: |\n  x\n", "pw:\n\n", "\n pw:", '--pw "\\', "--pw - ", 'pw """\n', "-u a:'"),
    ],
)
@pytest.mark.parametrize("in_shell", [False, True])
def test_four_times_the_text_takes_no_long_time(part: str, in_shell: bool) -> None:
    short, long = (part * (length // len(part)) + '"' for length in (64 * 1024, 4 * 64 * 1024))
    assert is_linear(short, long, in_shell)


def json_in_a_string(entries: int) -> str:
    listed = ", ".join(f'\\"abc{number}\\"' for number in range(entries))
    return rf"{{\"tokens\": [{listed}]}}"


@pytest.mark.parametrize("form", ["x = '{}'", "curl -d {} x", "pass: {}", "pass: [{}"])
@pytest.mark.parametrize("in_shell", [False, True])
def test_four_times_the_json_in_a_string_takes_no_long_time(form: str, in_shell: bool) -> None:
    short, long = (form.replace("{}", json_in_a_string(count)) for count in (4_000, 16_000))
    assert len(short) > 50_000
    assert is_linear(short, long, in_shell)


@pytest.mark.parametrize("begin", ["pass:[", "pw:[a,", 'pw:["'])
@pytest.mark.parametrize(
    "part", ['\\"', "\\'", '"\\"', "'\\'\"", 'pw:[a"\\\n', "pw:[a\n", "pw:[a,\n"]
)
def test_four_times_the_text_in_a_bracket_takes_no_long_time(begin: str, part: str) -> None:
    short, long = (begin + part * (length // len(part)) for length in (64 * 1024, 4 * 64 * 1024))
    assert is_linear(short, long, in_shell=False)


def is_linear(short: str, long: str, in_shell: bool) -> bool:
    """Whether the long text, four times the short one, takes less than ten times as long.

    Were it the square of the length, it would take sixteen times as long.
    """

    def seconds(text: str) -> float:
        began = time.process_time()
        without_secrets(text, in_shell=in_shell)
        return time.process_time() - began

    return seconds(long) < 10 * max(seconds(short), 0.1)
