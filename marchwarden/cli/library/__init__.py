"""Earlier answers: find them, show them, write them to files."""
