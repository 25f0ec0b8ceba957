"""Answers of services' APIs → a Page, one module a service."""
