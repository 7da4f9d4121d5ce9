"""The whole counts of the scorecard, in pieces that can be resumed: `make campaign`."""
