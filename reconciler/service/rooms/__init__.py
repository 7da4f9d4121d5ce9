"""Rooms' own reports: the book of what they say, what it writes on their pods, and the desk."""
