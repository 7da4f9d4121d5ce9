"""Texts that nobody described, with secrets or without: each is read, and nothing is made up."""

from reconciler.core.secret_texts import is_secret_name, takes_secret, without_secrets
from reconciler.model.masks import MASK
from tests.fuzz.forging import Forge
from tests.fuzz.playing import Target, search
from tests.fuzz.seeds import SPECS

TEXTS = Forge(
    [
        *SPECS,
        b"map ice\nrcon_password correct horse\nset sv_key 'a b'\n# pass: x\n",
        b'{"map": 1, "apiToken": ["a", {"b": "c"}], "name": "DB_PASS", "value": "x y"}',
        b"pass: |\n  a\n\n  b\nkeys:\n- a\n- b\nname: PSK\nvalue: 'x'\n",
        b"run +set rconpw a --token \\\n b +login me c && curl -u admin:d 'X-Auth: e f'\n",
        b"<db:pass a='b'><![CDATA[x]]></db:pass>\n<name>pw</name>\n<value>y</value>\n",
        b"pw = <<E\na\nE\nx = \"\"\"\nb\n\"\"\"\nA=(a=1,adminPass=$(say `c` (d)),b=2)\n",
    ],
    (
        *(b"pass", b"pw=", b"key: ", b"--token ", b"+set ", b"+login ", b"-u a:", b"value: "),
        *(b"\\\"", b"\\\n", b"$(", b"`", b"<<E\n", b'"""', b"'''", b"{pass: ", b"<pw>", b"***"),
    ),
)  # fmt: skip
NAME, SECRET = "rcon_password=", "correct-horse"
ARGUMENTS = Forge(
    [b"+set\nrconpassword\nx", b"\n--token\nx", b"run\n-u\nadmin:x", b"+login\nme\nx"],
    (b"--seta", b"--proxy-user", b"passin", b"anonymous", b"+quit", b"7:7", b"a=s3://b"),
    20_000,
)
"""Three of them, a line each."""


def masked(data: bytes) -> None:
    """What is shown of a text is of that text, and nothing of a secret that stands before it."""
    text = data.decode("utf-8", "replace")
    for in_shell in (False, True):
        rest, told = iter(text), without_secrets(text, in_shell=in_shell)
        assert all(letter in rest for letter in told.replace(MASK, ""))
        told = without_secrets(f"{NAME}{SECRET}\n{text}", in_shell=in_shell)
        assert f"{told}\n".startswith(f"{NAME}{MASK}\n")


def judged(data: bytes) -> None:
    """Of any three arguments is said whether the last is a secret."""
    before, _, rest = data.decode("utf-8", "replace").partition("\n")
    flag, _, value = rest.partition("\n")
    assert takes_secret(before, flag, value) in (True, False)
    assert is_secret_name(flag) in (True, False)


def test_no_text_with_secrets_is_too_much() -> None:
    search(Target("masks", 42_000, TEXTS, masked))


def test_no_arguments_are_too_much() -> None:
    search(Target("arguments", 210_000, ARGUMENTS, judged))
