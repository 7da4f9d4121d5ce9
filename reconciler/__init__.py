"""Keep fleets of game servers on Kubernetes the way a Git repository says."""

__version__ = "0.1.0"
