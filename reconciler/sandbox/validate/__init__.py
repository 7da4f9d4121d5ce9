"""What the API server finds wrong with an object, all of it at once."""
