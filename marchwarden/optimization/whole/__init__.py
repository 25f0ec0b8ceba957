"""The whole program compiled from end to end, on whole questions."""
