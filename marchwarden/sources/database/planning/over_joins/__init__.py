"""Sums, counts and means over joined tables, for everyday questions: who spent the most, sales by country."""
