"""The Config that is in force: that of the head, or of the accepted one while the head has none."""

from functools import lru_cache

from reconciler.core.compile import config_from_json
from reconciler.model.readings import Reading
from reconciler.model.records import RepositoryRecord
from reconciler.model.specs import Config


def accepted_config(record: RepositoryRecord) -> Config | None:
    """Return the Config that was last accepted, None before any."""
    return _parsed(record.config_json) if record.config_json else None


def config_in_force(reading: Reading | None, record: RepositoryRecord) -> Config:
    """Return what counts now: nobody loosens it by a head that is held."""
    read = reading.config if reading is not None else None
    return read or accepted_config(record) or Config()


_parsed = lru_cache(maxsize=4)(config_from_json)
