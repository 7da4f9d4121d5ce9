"""HTTP for rooms: Maestro's paths, the collections', our own, and the listener that serves them.

The heart is without a framework: an `Ask` goes in, an `Answer` comes out (`api`). Behind it stand
the two Protocols of `room_ports`; `server` is the thin shell over aiohttp.
"""
