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

SCHEMAS = """
CREATE SCHEMA sales; CREATE SCHEMA archive;
CREATE TABLE sales.buyer (buyer_id INTEGER PRIMARY KEY, name VARCHAR, town VARCHAR);
CREATE TABLE sales.deliveries (delivery_id INTEGER PRIMARY KEY, buyer_id INTEGER REFERENCES sales.buyer (buyer_id),
    item VARCHAR);
CREATE TABLE sales.orders (order_id INTEGER PRIMARY KEY, item VARCHAR, note VARCHAR, api_token VARCHAR);
CREATE TABLE archive.orders (order_id INTEGER PRIMARY KEY, item VARCHAR, pin INTEGER);
CREATE TABLE archive.returns (return_id INTEGER PRIMARY KEY, item VARCHAR);
CREATE TABLE sales.returns (return_id INTEGER PRIMARY KEY, item VARCHAR);
INSERT INTO sales.buyer VALUES (1, 'Ada Lemmer', 'Bergen'), (2, 'Bo Tennant', 'Oslo'), (3, 'Cid Roth', 'Bergen');
INSERT INTO sales.deliveries VALUES (1, 1, 'Lamp'), (2, 1, 'Chair'), (3, 2, 'Lamp');
INSERT INTO sales.orders VALUES (1, 'Lamp', '', 'x'), (2, 'Lamp', '', 'y'), (3, 'Chair', '', 'z'), (4, 'Lamp', '', 'w'),
    (5, 'Lamp', '', 'v');
INSERT INTO archive.orders VALUES (1, 'Table', 1), (2, 'Lamp', 2);
INSERT INTO archive.returns VALUES (1, 'Table');
"""
"""Two schemas beside the shop, which share the names of two tables; for DuckDB and PostgreSQL."""
SCHEMAS_OF_POSTGRES = """
CREATE SCHEMA "Odd Name"; CREATE TABLE "Odd Name"."Gift Card" ("Card Id" INTEGER PRIMARY KEY, "Holder" TEXT);
INSERT INTO "Odd Name"."Gift Card" VALUES (1, 'Ada'), (2, 'Bo');
CREATE SCHEMA hr; CREATE TABLE hr.contracts (contract_id INTEGER PRIMARY KEY, wage INTEGER);
CREATE SCHEMA tools;
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_stat_statements') THEN
        CREATE EXTENSION pg_stat_statements SCHEMA tools;
    END IF;
END $$;
GRANT USAGE ON SCHEMA "Odd Name", tools TO PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA "Odd Name" TO PUBLIC;
"""
"""One whose names need quotation marks, one without the right to use it, and one of an extension's tables."""


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
