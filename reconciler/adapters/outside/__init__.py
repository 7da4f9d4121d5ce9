"""Asks others: webhooks that a repository names and the operator allows, and one Prometheus."""
