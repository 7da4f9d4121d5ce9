"""What came of `apply`, workload by workload."""

from collections.abc import Iterable

from reconciler.cli.changes import hold_lines
from reconciler.cli.console import Console
from reconciler.cli.convergence import Convergence, Course
from reconciler.cli.lanes import Lanes
from reconciler.cli.live_diff import ASK_NOTHING
from reconciler.cli.reading import counted
from reconciler.model.holds import Hold
from reconciler.model.live import LivePod


def print_result(console: Console, lanes: Lanes, convergence: Convergence) -> bool:
    """Print the outcome and return whether everything is as wanted."""
    commit = lanes.one.lane.wanted.commit[:12]
    failed = 0
    for key, course in sorted(convergence.courses.items()):
        if course.done or not course.as_wanted:
            console.print(f"{console.paint(str(key), 'bold')}  {_said(course)}")
        if course.as_wanted:
            continue
        failed += 1
        if course.error:
            console.print(f"  {console.paint('failed:', 'red')} {course.error}")
        for line in hold_lines(console, course.holds):
            console.print(f"  {line}")
        for reason in sorted(_waiting(lanes.one.view.of(key).pods)):
            console.print(f"  waiting: {reason}")
    if convergence.deposed:
        console.print("The Lease was lost to another process, which goes on from here.")
    if not failed:
        held = ", but for what is held" if any(map(_waits, lanes.one.lane.wanted.holds)) else ""
        console.print(f"{console.paint('as wanted', 'green')} at commit {commit}{held}")
        return True
    why = "when the time was up" if convergence.timed_out else "in the end"
    console.print(f"{counted(failed, 'workload')} not as wanted {why}, at commit {commit}")
    return False


def _waits(hold: Hold) -> bool:
    return hold.kind not in ASK_NOTHING


def _said(course: Course) -> str:
    steps = [
        f"{counted(number, noun)} {done}" for (noun, done), number in sorted(course.done.items())
    ]
    if course.gone:
        return ", ".join([*steps, "gone"])
    if course.plan:
        counts = course.plan.counts
        steps.append(f"{counts.ready} of {counts.desired} ready")
        if counts.old:
            steps.append(f"{counts.old} of another revision")
        if counts.leaving:
            steps.append(f"{counts.leaving} leaving")
        if counts.unheard:
            steps.append(f"{counts.unheard} heard by `gamekeeper run` alone, and left as they are")
    return ", ".join(steps) or "not planned"


def _waiting(pods: Iterable[LivePod]) -> set[str]:
    """Return why rooms are not ready, each reason once."""
    return {
        reason
        for pod in pods
        if not pod.ready and not pod.terminating and (reason := pod.waiting or pod.unschedulable)
    }
