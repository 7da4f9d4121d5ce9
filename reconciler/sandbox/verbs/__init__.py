"""What a request may ask of the sandbox, one verb a module."""
