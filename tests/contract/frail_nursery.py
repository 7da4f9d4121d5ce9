"""The zygote with a reader that certain words kill: strict YAML leaves no file that could.

Run in place of `reconciler.adapters.compiler.nursery`, by name.
"""

import time

from reconciler.adapters.compiler import nursery
from reconciler.core import read
from reconciler.core.spec_kit import SpecKit
from reconciler.model.readings import Reading
from reconciler.model.specs import Permissions
from reconciler.model.trees import Tree

_read_tree = read.read_tree


def _frail_read_tree(tree: Tree, permissions: Permissions, kit: SpecKit) -> Reading:
    for entry in tree.entries.values():
        text = entry.text or b""
        if b"LOOP" in text:
            while True:
                pass
        if b"MEMORY" in text:
            bytes(1 << 40)
        if b"MISTAKE" in text:
            raise KeyError(tree)
        if b"SLEEP" in text:
            time.sleep(60)
    if sum(b"TOGETHER" in (entry.text or b"") for entry in tree.entries.values()) > 1:
        bytes(1 << 40)
    return _read_tree(tree, permissions, kit)


if __name__ == "__main__":
    read.read_tree = _frail_read_tree
    nursery.main()
