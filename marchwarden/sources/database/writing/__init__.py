"""A question of plain English → one SELECT that a model writes, grounded, checked and tried."""
