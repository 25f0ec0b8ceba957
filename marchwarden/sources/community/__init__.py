"""Forums whose questions, answers and discussions are sources."""
