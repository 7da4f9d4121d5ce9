"""How many points were interrupted in this run."""

from collections import Counter

POINTS: Counter[str] = Counter()
"""What was tried, by kind; tests add to it."""
