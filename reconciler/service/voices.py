"""Several voices as one: what is said once is heard by logs, metrics and the health check."""

from collections.abc import Sequence

from reconciler.model.errors import PortError
from reconciler.model.plans import Plan
from reconciler.model.readings import Reading
from reconciler.model.refs import WorkloadKey
from reconciler.model.reports import Report
from reconciler.model.wanted import Wanted
from reconciler.service.app import Voice


class Voices:
    """Passes everything on, in order."""

    def __init__(self, voices: Sequence[Voice]) -> None:
        self._voices = tuple(voices)

    def planned(self, cluster: str, plan: Plan) -> None:
        """A workload was planned."""
        for voice in self._voices:
            voice.planned(cluster, plan)

    def settled(self, report: Report) -> None:
        """A workload's plan was carried out."""
        for voice in self._voices:
            voice.settled(report)

    def crashed(self, cluster: str, key: WorkloadKey, error: Exception) -> None:
        """Settling a workload met a defect."""
        for voice in self._voices:
            voice.crashed(cluster, key, error)

    def gone(self, cluster: str, key: WorkloadKey) -> None:
        """A workload is neither wanted nor there any more."""
        for voice in self._voices:
            voice.gone(cluster, key)

    def passed(self, cluster: str, keys: int, seconds: float) -> None:
        """All keys that were dirty have been planned."""
        for voice in self._voices:
            voice.passed(cluster, keys, seconds)

    def looked(self, wanted: Wanted, reading: Reading | None, seconds: float) -> None:
        """A head was taken in."""
        for voice in self._voices:
            voice.looked(wanted, reading, seconds)

    def blind(self, error: PortError) -> None:
        """Git, or what stands behind it, did not answer."""
        for voice in self._voices:
            voice.blind(error)

    def stumbled(self, error: Exception) -> None:
        """Taking a head in met a defect."""
        for voice in self._voices:
            voice.stumbled(error)
