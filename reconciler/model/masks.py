"""Secrets in text that goes to people, told by their look."""

import re

MASK = "***"
_USERINFO = re.compile(r"^(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<userinfo>[^/]*)@", re.IGNORECASE)
_NAMED = r"(?:token|password|passwd|secret|api[_-]?key)"
_IN_QUERIES = r"(?:code|key|sig|signature|auth|jwt|pwd|pass|credentials?)"
_WORD = r"[^\s\"',;&]+"
_REFUSED = (
    r"(?:(?:Required|Invalid|Duplicate|Unsupported) value|Not found|Too (?:long|many)|"
    r"Internal error)\b|Forbidden:"
)
"""Causes for which an API server refuses a field, each as it stands behind the field's name."""
_PRIVATE_KEY = re.compile(
    r"(?P<keep>-----BEGIN [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----)(?:(?!-----END )[\s\S])++"
)
_SECRETS = (
    # userinfo of a URL, whole: a token may stand in either half
    (re.compile(r"(?P<keep>[a-z0-9+.-]://)[^\s/]+@", re.IGNORECASE), rf"\g<keep>{MASK}@"),
    (
        re.compile(r"(?P<keep>\b(?:authorization:\s*)?(?:bearer|basic)\s+)[\w.~+/=-]{8,}", re.I),
        rf"\g<keep>{MASK}",
    ),
    (re.compile(r"(?P<keep>\bAPI_SERVER_CODE\W{1,4}(?:value\W{1,5})?)\w+"), rf"\g<keep>{MASK}"),
    (
        re.compile(rf"(?P<keep>[?&][\w.-]{{0,40}}{_IN_QUERIES}=)[^\s&#\"']+", re.IGNORECASE),
        rf"\g<keep>{MASK}",
    ),
    # A header is short: without a bound, each `-eyJ` of a long word would be searched to its end.
    (re.compile(r"\beyJ[\w-]{8,2000}+\.[\w-]{8,}+\.[\w-]+"), MASK),
    (re.compile(r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abp]-)\w[\w-]{8,}"), MASK),
    (
        re.compile(
            rf"(?P<keep>\b\w*{_NAMED}\b[\"']?\s*(?:=\s*|:)[\"']?){_WORD}",
            re.IGNORECASE,
        ),
        rf"\g<keep>{MASK}",
    ),
    # Not the reason behind the name of a file: "/run/git-token: Permission denied", nor that behind
    # a field of the cluster: "spec.automountServiceAccountToken: Required value".
    (
        re.compile(
            rf"(?P<keep>(?<![\w./-])[\w.-]*{_NAMED}\b[\"']?\s*:\s+[\"']?)(?!{_REFUSED}){_WORD}",
            re.IGNORECASE,
        ),
        rf"\g<keep>{MASK}",
    ),
)


def redact(text: str) -> str:
    """Mask URL userinfo and whatever looks like a token or password."""
    text = without_keys(text)
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def without_keys(text: str) -> str:
    """Mask what stands between the first and the last line of a private key."""
    return _PRIVATE_KEY.sub(rf"\g<keep>{MASK}", text)


def without_userinfo(url: str) -> str:
    """Return a URL as it may be stored and shown: a user name stays where ssh needs it."""
    found = _USERINFO.match(url)
    if found is None:
        return url
    user = found["userinfo"].partition(":")[0]
    kept = f"{user}@" if found["scheme"].lower() == "ssh" and user else ""
    return f"{found['scheme']}://{kept}{url[found.end() :]}"
