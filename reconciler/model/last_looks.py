"""What a policy that asks others came to when the loop looked last: nobody else can reckon it."""

from dataclasses import dataclass

MINIMUM = "min: "
"""How the step begins that raises a count to its lower bound."""


@dataclass(frozen=True, slots=True)
class LastLook:
    """One decision, whether or not it moved the count; times are Unix seconds, 0 unknown.

    `answered_at` is when the oldest of the answers was true that it rests on. `advised` is what
    the policy wanted, None where it could not tell; `replicas` what was decided. `steps` say why,
    the policy's reason first. `again_at` is when a change that waits may be allowed.
    """

    at: float
    answered_at: float
    advised: int | None
    replicas: int
    steps: tuple[str, ...]
    again_at: float = 0.0

    @property
    def is_limited(self) -> bool:
        """Whether something keeps the count from what the policy wants.

        One that rests at its `min` with nothing to do does as it shall, for days perhaps.
        """
        rests = any(step.startswith(MINIMUM) for step in self.steps[1:][-1:])
        return self.advised is not None and self.advised != self.replicas and not rests
