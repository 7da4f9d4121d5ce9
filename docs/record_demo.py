"""Record `gamekeeper demo` as docs/demo.svg: run it on a terminal of its own, draw what it says.

python docs/record_demo.py
"""

import io
import os
import pty
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 100


def recorded() -> str:
    """Return everything that the demo writes to a terminal."""
    said = bytearray()

    def keep(descriptor: int) -> bytes:
        chunk = os.read(descriptor, 4096)
        said.extend(chunk)
        return chunk

    program = str(Path(sys.executable).with_name("gamekeeper"))
    os.environ["TERM"] = "xterm-256color"
    if pty.spawn([program, "demo"], keep):
        raise SystemExit("the demo failed: nothing was recorded")
    return said.decode().replace("\r\n", "\n")


def main() -> None:
    """Draw it."""
    text = Text.from_ansi("$ make demo\n" + recorded())
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    for line in text.split("\n"):
        console.print(line)
    svg = console.export_svg(title="make demo")
    # No web font: a page that shows this fetches nothing.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code", "DejaVu Sans Mono").replace("https://www.textualize.io", "rich")
    Path(__file__).with_name("demo.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
