"""Git as blobs: a bare mirror (`mirror`), a user's checkout (`checkout`), one in memory (`memory`).

Everything that runs git runs in a child process (`child`); the parent's side is `process`.
"""
