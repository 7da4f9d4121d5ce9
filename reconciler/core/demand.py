"""The demand of a workload: how many rooms turned occupied in each quarter of an hour of 28 days.

Kept as bytes in the state record: four of a mark, the number of the newest quarter (Unix time
divided by 900 s), and a count a quarter, the oldest first; all little-endian, four bytes each.
28 days are 10,760 bytes. A quarter of which nothing is known is told from one without demand.
"""

import struct
from collections.abc import Mapping

QUARTER_SECONDS = 900
QUARTERS = 28 * 96
MARK = b"GKD1"
HEAD_BYTES = 8
MOST_BYTES = HEAD_BYTES + 4 * QUARTERS
UNKNOWN = 0xFFFF_FFFF
MOST = UNKNOWN - 1


def quarter_of(at: float) -> int:
    """Return the number of the quarter that holds an instant (Unix seconds)."""
    return int(at // QUARTER_SECONDS)


def is_history(data: bytes) -> bool:
    """Whether bytes are such a history."""
    try:
        _parts(data)
    except ValueError:
        return False
    return True


def decode(history: bytes) -> dict[int, int]:
    """Return what is known, by number of the quarter.

    Raises ValueError where the bytes are not such a history.
    """
    if not history:
        return {}
    newest, counts = _parts(history)
    oldest = newest - len(counts) + 1
    return {oldest + place: count for place, count in enumerate(counts) if count != UNKNOWN}


def encode(counts: Mapping[int, int]) -> bytes:
    """Return the newest 28 days of what is known; b"" where that is nothing.

    A count below 0 is taken for 0, one too large for what four bytes hold for the largest. What is
    before 1970 is left out.
    """
    newest = max(counts, default=-1)
    if newest < 0:
        return b""
    oldest = max(min(counts), newest - QUARTERS + 1, 0)
    row = [counts.get(quarter, UNKNOWN) for quarter in range(oldest, newest + 1)]
    kept = (count if count == UNKNOWN else max(0, min(MOST, count)) for count in row)
    return MARK + struct.pack(f"<I{len(row)}I", newest, *kept)


def newest_of(history: bytes) -> int | None:
    """Return the number of the newest quarter of a history, None where there is none."""
    try:
        return _parts(history)[0]
    except ValueError:
        return None


def append(history: bytes, quarter: int, count: int) -> bytes:
    """Return the history with one more quarter; what was known of it adds up.

    Quarters in between are unknown; one that is older than all that is kept is left out. What is
    not a history is taken for none. Raises nothing.
    """
    try:
        newest, _ = _parts(history)
    except ValueError:
        return encode({quarter: count})
    if quarter == newest + 1:
        kept = history[HEAD_BYTES:][-4 * (QUARTERS - 1) :]
        return (
            MARK + struct.pack("<I", quarter) + kept + struct.pack("<I", max(0, min(MOST, count)))
        )
    known = decode(history)
    known[quarter] = known.get(quarter, 0) + count
    return encode(known)


def put(history: bytes, quarter: int, count: int) -> bytes:
    """Return the history with what was seen of a quarter that is over; it replaces what was known.

    What is known of later ones is left out: a clock was ahead. Raises nothing.
    """
    try:
        newest, _ = _parts(history)
    except ValueError:
        return encode({quarter: count})
    if quarter > newest:
        return append(history, quarter, count)
    known = {place: seen for place, seen in decode(history).items() if place < quarter}
    return encode({**known, quarter: count})


def newer_half(history: bytes) -> bytes:
    """Return a history without its older half, b"" where little is left of it."""
    try:
        newest, counts = _parts(history)
    except ValueError:
        return b""
    left = counts[(len(counts) + 1) // 2 :]
    return MARK + struct.pack(f"<I{len(left)}I", newest, *left) if left else b""


def merge(kept: bytes, other: bytes) -> bytes:
    """Return both: where both know a quarter, `kept` is right.

    Raises ValueError where one is not a history.
    """
    return encode({**decode(other), **decode(kept)})


def _parts(history: bytes) -> tuple[int, tuple[int, ...]]:
    """Return the newest quarter and the counts, the oldest first."""
    count, rest = divmod(len(history) - HEAD_BYTES, 4)
    if count < 1 or rest or count > QUARTERS or not history.startswith(MARK):
        raise ValueError("not a demand history")
    newest, *counts = struct.unpack(f"<I{count}I", history[len(MARK) :])
    if newest < count - 1:
        raise ValueError("it begins before 1970")
    return newest, tuple(counts)
