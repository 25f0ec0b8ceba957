"""A question of plain English → one SELECT, by rules and without a model."""
