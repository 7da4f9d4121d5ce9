"""Tells people outside what became of commits: beside the loop, once a state."""
