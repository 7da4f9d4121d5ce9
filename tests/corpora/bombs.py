"""Which files of the YAML corpus are bombs: little text that would come to much work or memory.

Not among them is `a-hundred-thousand-and-one-values`: that many stand there, and it is refused at
the last, half a second of CPU after the first, which one value less would take too.
"""

from typing import Final

BOMBS: Final = frozenset(
    {
        # What is written once and meant often.
        *("a-billion-laughs", "a-billion-laughs-in-a-good-spec", "a-merge-key-bomb"),
        *("a-thousand-and-one-anchors", "a-value-that-contains-itself"),
        "one-hundred-and-one-aliases",
        # What stands in itself, or begins and never ends.
        *("a-list-that-never-closes", "five-thousand-braces", "five-thousand-brackets"),
        *("quotes-that-never-close", "three-thousand-nested-lists"),
        # What parsers take quadratic time for, or speak of without end.
        *("a-count-of-five-thousand-digits", "a-count-of-twenty-thousand-sexagesimal-groups"),
        *("fifteen-hundred-documents", "five-thousand-mistakes"),
        *("one-hundred-thousand-question-marks", "one-line-of-two-hundred-thousand-spaces"),
    }
)
