"""Settings to the pieces of the world: the only place that names adapters (DESIGN §2).

Adapters are imported where they are made: a command pays for what it uses.
"""
