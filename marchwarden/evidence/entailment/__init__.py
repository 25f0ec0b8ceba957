"""Rules that tell a claim which its quotes do not entail."""
