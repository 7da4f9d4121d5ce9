"""A small cluster in a process that speaks the Kubernetes API (DESIGN §7)."""
