r"""Secrets in texts that nobody described: arguments, lines of a shell, a server's configuration.

The reader looks for three things behind each other. A *name* that is a secret's, where names stand:
behind a sign (`--x`, `+set x`), at the beginning of a line or a command (behind a list's dash, a
comment's sign, `set` and `echo` too), in a tag, or anywhere before an equals sign or a colon. A
*separator*. And a *value*, which is masked. How far a value reaches is a guess, and it is made so
that more is masked rather than less:

- behind a flag it is one word of a shell, in a shell behind `X=` as well; outside one only where
  another flag follows or nothing, for of `-pass correct horse` each word is one of the secret;
- what quotes, brackets or `<<WORD` and `WORD` enclose, on several lines too. A bracket that nothing
  closes reaches to the end of the text; but `[x` at the end of a line is a word;
- in `{pass: x, map: ice}` what stands before the next name or the last bracket;
- otherwise all of the line, of `pass: |` or a list the lines below that are indented deeper, and of
  `<pass>` those to the next tag.

In a shell `auth-server --map ice` is a command, and no secret. What a name means is a guess too:
see `is_secret_name`. Each part of a text is read a bounded number of times, whatever stands in it.

Shown is what no such name stands before: `-p x`, `value="x" name="password"`, `login user x` of a
script, `password x` amid a line (netrc's, or in `sed 's|a|password x|'`), the path of a webhook, a
URL's password with a `/`, `user:x@tcp(db)`, an old secret in a comment. And of a value what looks
like the next: `y` of `"host=h password=x y"` in a shell, of `{pass: x, z: y}` and `{pass=x,z=y}`.
"""

import re
from functools import cache

from reconciler.model.masks import MASK

_SECRET_NAME = re.compile(
    r"token|secret|passw|passphrase|passin$|passout$|pwd|credential|private|api_?key|webhook|"
    r"authorization|cookie|gslt|setsteamaccount",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_ENDS = ("auth", "cred", "creds", "dsn", "jwt", "key", "keys", "pass", "pat", "psk", "pw")
"""Too short to be looked for anywhere in a name: `MAX_PASSENGERS` and `KEYBOARD` are none. With
one of them a word ends that is a secret's name, for many a name is one word: `DBPASS`, `sshkey`."""

_NAME = re.compile(
    r"(?:(?P<head>(?:^|;|\\[nrt])[ \t\ufeff#/*-]*(?:(?:set(?:[asux]|env)?|export|echo|ENV)[ \t]++)?"
    r")|(?P<flow>[{,][ \t]*+)|(?P<tag><(?:name>|\w++:)?+|\sname=)|(?<=[\s\"'`=(\[|$.:>\]]))"
    r"(?P<whole>(?P<open>\\*+[\"'])?"
    r"(?P<set>[-+]{1,2}set[asu]?[\"']?,?\s++(?:-[ \t]++)?[\"']?)?+[-+]{0,2}+(?P<name>\w[\w./-]*+))",
    re.MULTILINE,
)
"""A word where names stand: at the `head` of a line or a command, in a `flow` or a `tag`, behind
`+set`, behind a sign that ends another word. Only what parts it from a value makes it a name."""
_CLOSED = r"(?:\\*+[\"'])?(?:\[[\"']?\w*+[\"']?\]|\]?)"
_MARK = re.compile(
    rf"{_CLOSED}(?:(?:,\s*+|\s++)(?P<item>(?:\\*+[\"'])?value){_CLOSED})?"
    r"[ \t]*+(?:[:+?]?=>?|:)[ \t]*+"
)
"""`:`, `=`, `=>`, `'] = `; of `name: DB_PASS` the `value:` that follows."""
_IN_TAG = re.compile(r"(?:</\w++|[^<>]{0,999}+(?<!/))>\s*+(?:<(?:value|string)>\s*+)?+(?!<[\w/])")
"""Of `<pw>x`, and what a tag says is a name: `<p name="pw">x`, `<name>pw</name><value>x`."""
_QUOTES = ("'", '"', r"\'", r"\"")
_BLANK, _COMMA = (re.compile(_CLOSED + sign) for sign in (r"[ \t]++", r"(?:,\s*+|[ \t]++)"))
"""A comma in a call: `define('DB_PASS', 'x')`, `getenv("DB_PASS", "x")`."""
_BEHIND_FLAG = re.compile(rf"(?=[\s\"'=:,\\]){_CLOSED}(?:[ \t]*+[=:,])?(?:\s|\\\n)*+(?:-[ \t]++)?")
"""To the next item of a list too: of `"--pass", "x"`, and of one below the other."""

_WORD = re.compile(
    r"(?:\\\"(?:[^\"\\]|\\[^\"])*+\\\"|\\.|\"(?:\\.|[^\"\\])*+\"|'[^']*+'|"
    r"`[^`]*+`|\$\((?:[^()]|\([^()]*+\))*+\)|\S)++",
    re.DOTALL,
)
"""One word of a shell: `x`, `"x y"`, `"$A":'b c'`, `$(a b)`. A quote of its own is a letter."""
_ALONE = re.compile(r"[ \t\r]*+(?:;|$)|[ \t]++[\"']?[-+]{1,2}[A-Za-z]", re.MULTILINE)
"""Behind a word that is all of a flag's value: nothing, or another flag."""
_OF_A_COMMAND = re.compile(r"[-+]{1,2}[A-Za-z][^\s;]*+[ \t]++[^\s;]")  # One alone may be a secret.
_ARGUMENT = re.compile(r"[-+]|\w++=(?!\*{3})(?:(?!\s[-+])[^;&|<>\n\"'`])*+\Z")
"""One of a command's arguments, no line of a shell, as far as one sees: `PASS=a b`."""
_UP_TO = {
    quote: re.compile(rf"(?:\\.|[^{quote}\\])*+(?={quote})", re.DOTALL) for quote in ("'", '"')
}
_GLUED = re.compile(r"[\"'][^\s,;)\]}\"'\\<>|&]\S*+")
_QUOTED = re.compile(
    r"(?P<three>\"{3}|'{3}).*?(?P=three)|\"(?:\\.|[^\"\\])*+\"|'[^']*+'|\*{3}|"
    r"<<[-~]?[ \t]*+[\"']?(?P<word>\w++)[^\n]*+(?:.*?\n[ \t]*+(?P=word)\b|.*+)",
    re.DOTALL,
)
"""A mask is read like quotes: so a text that was read before comes out as it is. From `<<WORD` what
a shell or HCL reads to a line that is `WORD`, or to the end."""
_BRACKET = re.compile(
    r"\\.|(?P<opens>[\[{])|(?P<closes>[\]}])|\"(?:\\.|[^\"\\])*+\"|'[^'\n]*+'|"
    r"(?P<breaks>(?<![,\[{])(?<![,\[{]\r)\n)",
    re.DOTALL,
)
"""What `\\` hides opens no string: else each of its quotes would be read to the end of the text."""
_WORD_IN_BRACKET = re.compile(r"[\[{]++[^\s\"']")
"""Of `[x` no comma is at the end of its line where it is a word that begins with a bracket."""
_ENDED = re.compile(r"[ \t\r]*+(?:[,;})\]]|$)|[ \t]++(?:#|//)", re.MULTILINE)
"""Behind quotes or brackets that are all of a value: `"a" b` and `{cipher}ab` are not."""
_IN_FLOW = re.compile(
    r"(?P<line>\n)|"
    r",[ \t]*+(?P<next>\r?$|(?P<open>\\*+[\"'])?[\w./-]++\\*+[\"']?(?P<mark>[ \t]*+[:=][ \t]*+))?|"
    r"[}\]][}\] \t]*+(?P<last>[,;]|\\*+[\"'](?=[\s,;)\]}]|$)|\r?$)?",
    re.MULTILINE,
)
"""What may end a value in `{pass: x, map: ice}`, and does where a `next` name or the `last` of the
brackets follows: a comma or a bracket alone may be one of the secret's letters."""
_LINE = re.compile(r"(?:[^\\\n]|\\.)*+\\?", re.DOTALL)
"""To the end of a line, and of the next where a backslash takes the line on."""
_BELOW = re.compile(r"\n(?P<indent>[ \t]*+)(?P<first>- |\S)?[^\n]*+")

_FLAG = re.compile(r"[-+]{1,2}([A-Za-z][\w.-]*)")
_SET_FLAG = re.compile(r"[-+]{1,2}set[asu]?")
_LOGIN_FLAG = r"(?:-[A-Za-z]{0,8}[uU]|--(?:proxy-)?user)"
_LOGIN = re.compile(
    rf"(?<![^\s\"'])(?:(?:{_LOGIN_FLAG}(?:=|\s++)|-[A-Za-z]{{0,8}}[uU])(?!{_LOGIN_FLAG}[=\s])|"
    r"(?P<steam>\+login[\"']?,?\s++(?:-[ \t]++)?(?![\"']?anonymous\b)"
    rf"{_WORD.pattern}(?:\s|\\\n)++(?:-[ \t]++)?(?![\"']?\+)))",
    re.DOTALL,
)
"""`curl -u `, `--user=`, `-u` before what it names; a flag behind a flag is no user. Of Steam's
`+login USER PASSWORD` all but the password; of a user who logged in before none may follow."""


def is_secret_name(name: str) -> bool:
    """Whether a variable, flag or entry of this name holds a secret, as far as names tell."""
    if _SECRET_NAME.search(name):
        return True
    return any(word.lower().endswith(_SECRET_ENDS) for word in _WORDS.findall(name))


def takes_secret(before: str, flag: str, value: str) -> bool:
    """Whether `value` is a secret, as the argument behind two others: `+set`, `password`, `x`."""
    if before.lower() == "+login":
        return flag.lower() != "anonymous" and not value.startswith("+")
    named = _FLAG.fullmatch(flag)
    name = named[1] if named else flag if _SET_FLAG.fullmatch(before) else ""
    if name and is_secret_name(name):
        return True
    return bool(re.fullmatch(_LOGIN_FLAG, flag) and _password_in(value))


def without_secrets(text: str, *, in_shell: bool) -> str:
    """Return a text with its secrets masked; `in_shell` where a shell may read it.

    Of what is neither known to be a shell's nor a configuration, such as a variable's value, more
    is masked where it is read as a configuration.
    """
    return _without_passwords(_without_values(text, in_shell and not _ARGUMENT.match(text)))


def _without_values(text: str, in_shell: bool) -> str:
    """Mask what is given to each name of a secret.

    A value is read once, whatever names stand in it. Only what stands behind it may be given to the
    last of them: in `--auth --token x` the flag may be the value, and the word behind it too.
    """
    parts, at, is_secret = [], 0, cache(is_secret_name)  # A configuration says its names often.
    for name in _NAME.finditer(text):
        separator = _separator(text, name) if is_secret(name["name"]) else None
        if separator is None or (start := separator.end()) < at:
            continue
        if (end := _end(text, name, separator, in_shell)) > start:
            parts += [text[at:start], MASK]
            at = end
    return "".join([*parts, text[at:]])


def _is_flag(text: str, name: re.Match[str]) -> bool:
    return bool(name["set"]) or text[max(0, name.start("name") - 1)] in "-+"


def _separator(text: str, name: re.Match[str]) -> re.Match[str] | None:
    """Return what parts a name from its value, None where none does and it is no name."""
    if _is_flag(text, name):
        return _BEHIND_FLAG.match(text, name.end())
    mark, tag = _MARK.match(text, name.end()), name["tag"]
    if tag and not (mark and tag[-1] in "=>") and (found := _IN_TAG.match(text, name.end())):
        return found
    in_call = text[max(0, name.start("whole") - 1)] == "("
    blank = (_COMMA if in_call else _BLANK).match(text, name.end())
    # `"pass x"` in quotes, and `"pass" "x"`.
    in_quotes = blank and (blank[0].isspace() or text.startswith(_QUOTES, blank.end()))
    if name["head"] is not None or (name["open"] and in_quotes):
        return mark or blank
    if name["flow"] or name["open"] or name["tag"]:
        return mark
    # Amid a line `private.registry:5000` is an address, and `a.key: x` one of a name's halves.
    sign, before = mark[0] if mark else "", text[name.start() - 1]
    is_other = (sign == ":" and before.isspace()) or (before in "$.:>]" and "=" not in sign)
    return None if is_other else mark


def _end(text: str, name: re.Match[str], separator: re.Match[str], in_shell: bool) -> int:
    """Return the end of the value behind a name and its separator."""
    start, given = separator.end(), separator[0]
    is_flag = _is_flag(text, name)
    if in_shell and not is_flag and given.isspace() and _OF_A_COMMAND.match(text, start):
        return start
    # Quotes that open before a name may end behind its value: "X-Auth: correct horse".
    around = _UP_TO.get(name["open"]) if given[:1] != name["open"] else None
    if around and (value := around.match(text, start)):
        if value[0]:
            return (_GLUED.match(text, value.end()) or value).end()
        # The quotes close before the value: of `"PASS="x` it is what stands behind them.
        if _ENDED.match(text, start + 1):
            return start
        start += 1
    if is_flag or (in_shell and given.endswith("=") and not given[0].isspace()):
        return _word_end(text, start, is_item=is_flag and "," in given, in_shell=in_shell)
    if separator.re is _IN_TAG:
        return _line_end(text, max(start, text.find("<", start + 1)))
    end = _enclosed_end(text, start)
    if end > start and _ENDED.match(text, end):
        return end
    if end == start and (flow := _flow_end(text, start, name, given)) > start:
        return flow
    end, begins = _line_end(text, end), name.start("whole")
    return _below(text, end, max(separator.start("item"), begins)) if separator.re is _MARK else end


def _word_end(text: str, start: int, *, is_item: bool, in_shell: bool) -> int:
    """Return the end of a word of a shell; `is_item` where it is one of a list in a text."""
    quoted = _QUOTED.match(text, start) if is_item else None
    if quoted and _ENDED.match(text, quoted.end()):
        return quoted.end()
    end = word.end() if (word := _WORD.match(text, start)) else start
    return end if in_shell or _ALONE.match(text, end) else _line_end(text, end)


def _enclosed_end(text: str, start: int) -> int:
    """Return the end of the quotes or brackets that open at `start`; `start` where none do."""
    if quoted := _QUOTED.match(text, start):
        return quoted.end()
    depth, is_word = 0, _WORD_IN_BRACKET.match(text, start)
    for found in _BRACKET.finditer(text, start) if text.startswith(("[", "{"), start) else ():
        if found["breaks"] and is_word:
            return start
        depth += bool(found["opens"]) - bool(found["closes"])
        if depth == 0:
            return found.end()
    return len(text) if depth else start


def _flow_end(text: str, start: int, name: re.Match[str], given: str) -> int:
    """Return where the next name or the last bracket ends a value; `start` if none on its line."""
    for found in _IN_FLOW.finditer(text, start) if name["flow"] or name["open"] else ():
        if found["line"]:
            break
        is_last = found["last"] is not None and name["flow"]
        if is_last or (found["next"] is not None and _is_next(found, name, given)):
            return start + len(text[start : found.start()].rstrip())
    return start


def _is_next(found: re.Match[str], name: re.Match[str], given: str) -> bool:
    """Whether a name is written as the one before it was: of `a:x,b:y` it is one of the value."""
    if found["mark"] is None:
        return True
    return found["open"] == name["open"] if name["open"] else found["mark"] == given != ":"


def _line_end(text: str, at: int) -> int:
    line = _LINE.match(text, at)
    return at + len(line[0].rstrip("\r")) if line else at


def _below(text: str, end: int, begins: int) -> int:
    """Return the end of what is indented deeper than the place `begins`, or is a list below it."""
    column = begins - (text.rfind("\n", 0, begins) + 1)
    for line in _BELOW.finditer(text, end):
        depth = len(line["indent"])
        if line["first"] and not (depth > column or (depth == column and line["first"] == "- ")):
            break
        if line["first"]:
            end = line.end()
    return end


def _password_in(value: str) -> str:
    """Return what stands for a password in `user:password`; numbers are a user and its group."""
    user, _, password = (part.strip("\"'") for part in value.partition(":"))
    # `-url=s3://maps` is no `-u`: it is a flag of a game, and what it names an address.
    is_url = password.startswith("//") and ("=" in user or user.lower() in ("http", "https"))
    return "" if is_url or (user.isdigit() and password.isdigit()) else password


def _without_passwords(text: str) -> str:
    """Mask the password of each login; its quotes stay.

    A word is read once, whatever flags stand inside it: a long one costs no more than its length.
    """
    parts, at, end = [], 0, 0
    for found in _LOGIN.finditer(text):
        word = _WORD.match(text, found.end()) if found.end() >= end else None
        if word is None:
            continue
        end = word.end()
        if password := word[0] if found["steam"] else _password_in(word[0]):
            colon = -1 if found["steam"] else text.index(":", word.start())
            start = text.index(password, max(colon, word.start()))
            parts += [text[at:start], MASK]
            at = start + len(password)
    return "".join([*parts, text[at:]])
