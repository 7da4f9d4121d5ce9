"""The Kubernetes API: connection, client, what its refusals mean."""
