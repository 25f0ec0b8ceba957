"""Small databases for tests: a shop with orders, users with a secret column, and a second table to join."""

from __future__ import annotations

import sqlite3
from pathlib import Path

SHOP = """
CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, name TEXT, city TEXT, age INTEGER);
CREATE TABLE orders (
    order_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (customer_id), item TEXT, amount REAL,
    year INTEGER
);
CREATE TABLE users (user_id INTEGER PRIMARY KEY, name TEXT, password TEXT);
INSERT INTO customer VALUES (1, 'Ada Lemmer', 'Bergen', 34), (2, 'Bo Tennant', 'Oslo', 51),
    (3, 'Cid Roth', 'Bergen', 28);
INSERT INTO orders VALUES (1, 1, 'Lamp', 40.5, 2021), (2, 1, 'Chair', 90, 2022), (3, 2, 'Lamp', 41, 2022),
    (4, 3, 'Table', 310, 2023);
INSERT INTO users VALUES (1, 'ada', 'hunter2'), (2, 'bo', 'swordfish');
"""


def make_shop(folder: Path) -> Path:
    """Write the shop as a SQLite file, and return its path."""
    path = folder / "shop.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(SHOP)
    connection.close()
    return path


def name_databases(folder: Path, **urls: str) -> Path:
    """Write a file that names databases, and return its path."""
    file = folder / "databases.toml"
    file.write_text("".join(f'[{name}]\nurl = "{url}"\n' for name, url in urls.items()))
    return file
