"""Asks and tells others: webhooks that a repository names, one Prometheus, whom operators tell."""
