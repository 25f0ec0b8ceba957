"""Examples and metrics of the two stages that judge an answer: its claims, and the chance that it is right."""
