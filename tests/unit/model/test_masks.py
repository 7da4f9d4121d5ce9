"""Addresses as they may be stored and shown."""

import pytest

from reconciler.model.masks import redact, without_userinfo


@pytest.mark.parametrize(
    ("url", "stored"),
    [
        pytest.param("https://bot:s3cret@h/f", "https://h/f", id="name and password"),
        pytest.param("HTTP://t0ken@h:80/f", "HTTP://h:80/f", id="a token in place of the name"),
        pytest.param("https://bot:s3@cret@h/f", "https://h/f", id="an @ in the password"),
        pytest.param("ssh://git:s3cret@h/f", "ssh://git@h/f", id="ssh needs the user name"),
        pytest.param("ssh://h/f", "ssh://h/f", id="ssh without a user"),
        pytest.param("https://h/a@b/f", "https://h/a@b/f", id="an @ in the path"),
        pytest.param("git@h:f", "git@h:f", id="user and host as scp writes them"),
        pytest.param("/srv/f", "/srv/f", id="a path"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_an_address_is_stored_without_credentials(url: str, stored: str) -> None:
    assert without_userinfo(url) == stored


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("POST /running?code=0a1b&x=1", "POST /running?code=***&x=1", id="in a URL"),
        pytest.param("API_SERVER_CODE=0a1b", "API_SERVER_CODE=***", id="as a shell has it"),
        pytest.param(
            '{"name": "API_SERVER_CODE", "value": "0a1b"}',
            '{"name": "API_SERVER_CODE", "value": "***"}',
            id="as a pod has it",
        ),
        pytest.param("GET /a?x=1&Sig=t0p now", "GET /a?x=1&Sig=*** now", id="a signature"),
        pytest.param("https://h/?access_key=t0p", "https://h/?access_key=***", id="a key"),
        pytest.param("exit code=1", "exit code=1", id="another code"),
    ],
)
def test_the_code_of_a_room_is_not_told(text: str, told: str) -> None:
    assert redact(text) == told


def test_no_part_of_a_password_with_an_at_sign_is_told() -> None:
    assert redact("at https://bot:s3@cret@h/f now") == "at https://***@h/f now"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("token=t0p", "token=***", id="as a setting"),
        pytest.param("GIT_TOKEN: t0p", "GIT_TOKEN: ***", id="as YAML has it"),
        pytest.param("client-secret = t0p", "client-secret = ***", id="with blanks"),
        pytest.param('{"api_key": "t0p"}', '{"api_key": "***"}', id="as JSON has it"),
        pytest.param("/run/token:t0p", "/run/token:***", id="close behind a path"),
        pytest.param("auth/token = t0p", "auth/token = ***", id="a setting that has a path"),
        pytest.param(
            "/run/git-token: Permission denied",
            "/run/git-token: Permission denied",
            id="the reason behind the name of a file",
        ),
        pytest.param("/etc/passwd: No such file", "/etc/passwd: No such file", id="another one"),
        *(
            pytest.param(f"spec.volumes[0].secret: {cause}", f"spec.volumes[0].secret: {cause}")
            for cause in (
                "Required value",
                'Invalid value: "": no',
                "Duplicate value",
                "Unsupported value: 3",
                "Forbidden: may not change",
                "Too long: may not be longer",
                "Too many: 2: at most 1",
                "Not found",
                "Internal error: x",
            )
        ),
        pytest.param("secret: Forbidden", "secret: ***", id="a word that only looks like a cause"),
        pytest.param("secret: Requiredvalue", "secret: ***", id="and another"),
    ],
)
def test_what_is_named_like_a_secret_is_masked_and_the_reason_of_a_file_is_not(
    text: str, told: str
) -> None:
    assert redact(text) == told


KEY = "-----BEGIN OPENSSH PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"a\n{KEY}\nMIIE\nab+/=\n-----END x-----\nb", f"a\n{KEY}***-----END x-----\nb"),
        (f"{KEY}\\nMIIE\\n-----END", f"{KEY}***"),
        ("-----BEGIN PRIVATE KEY-----MIIE", "-----BEGIN PRIVATE KEY-----***"),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQ", "-----BEGIN PGP PRIVATE KEY BLOCK-----***"),
        ("-----BEGIN CERTIFICATE-----\nMIIE", "-----BEGIN CERTIFICATE-----\nMIIE"),
    ],
)
def test_no_line_of_a_private_key_is_told(text: str, told: str) -> None:
    assert redact(text) == told
