"""A real Prometheus for tests: who asks it, and who it asks."""
