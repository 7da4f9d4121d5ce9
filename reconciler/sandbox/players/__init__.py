"""Simulated rooms, their players, and who sends them there; pure, stepped in any time."""
