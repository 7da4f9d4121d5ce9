"""What the hostile templates are after: out of their sandbox, or on without end.

The others are mistakes, and what looks like one and is none.
"""

from typing import Final

ESCAPES: Final = frozenset(
    {
        # Through attributes and names, to what Python keeps behind every value.
        *("all-classes-from-a-text", "by-a-code-object", "by-a-global", "by-a-mangled-name"),
        *("by-a-method-of-a-text", "by-a-name-in-a-variable", "by-a-name-put-together"),
        *("by-an-escaped-name", "by-an-exception", "by-another-global", "by-subscript"),
        *("by-the-environment", "by-the-filter-attr", "by-the-items-of-a-mapping", "by-the-loop"),
        *("by-the-self-of-a-method", "by-the-template-itself", "the-class-of-a-value"),
        # Through texts that format others.
        *("a-format-map", "a-format-string", "a-percent-format", "the-filter-format"),
        # To other files.
        *("a-parent-outside", "an-import", "an-included-file", "an-included-template-of-ours"),
        "names-from-a-template",
        # Through calls, filters, tests, statements and tags that do more than is theirs.
        *("a-call-block", "a-change-of-what-was-given", "a-debug-statement"),
        *("a-filter-that-calls-others", "a-filter-that-is-not-there", "a-mutable-namespace"),
        *(
            "a-statement-for-its-effect",
            "a-tag-of-yaml-that-runs-code",
            "a-test-that-calls-filters",
        ),
        "a-word-that-is-no-statement",
        # Out of a value, into the text around it; and to another object than it may make.
        *("a-filter-block-that-takes-quotes-away", "another-kind", "switching-escapes-off"),
        *("text-kept-as-a-value", "the-mark-of-a-value", "two-documents"),
    }
)
RUNAWAYS: Final = frozenset(
    {
        # A limit ends each of these: of CPU, of memory, of depth, of digits or of what is written.
        *("a-join-of-a-million-texts", "a-power-without-end", "a-shift-without-end"),
        *("a-template-of-two-mebibytes", "a-text-doubled-forty-times", "a-value-above-the-limit"),
        *("a-value-that-grows-as-it-is-written", "a-width-of-two-billion", "blocks-in-blocks"),
        *("brackets-without-end", "letters-sorted-for-long", "loops-in-loops"),
        *("signs-without-end", "text-without-end", "two-billion-items", "two-billion-letters"),
        "yaml-without-end",
        # And of these not even the first step is allowed.
        *("a-long-range", "a-recursive-loop", "endless-recursion", "lorem-ipsum-without-end"),
    }
)
