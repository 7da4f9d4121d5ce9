"""An amount as people write it in a spec: a count, or a per cent of one."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Share:
    """A count, or a per cent of one (`25%`)."""

    value: int
    percent: bool = False

    def __str__(self) -> str:
        return f"{self.value}%" if self.percent else str(self.value)
