"""Readers of tables: CSV and spreadsheets."""
