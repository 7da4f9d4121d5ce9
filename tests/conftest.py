"""What all tests share: the plugin of the real control plane.

`make test` runs what is not marked `real`, `make real` the rest. Nothing is skipped for want of a
control plane: a test that needs one fails without it.
"""

pytest_plugins = ["tests.controlplane.plugin"]
