"""Corpora of hostile input: each case a folder with what comes in, and exactly what comes of it."""
