CREATE TABLE customers (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, city TEXT, joined DATE);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, category TEXT, price REAL, cost REAL, stock INTEGER);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), order_date DATE);
CREATE TABLE order_items (
    id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders (id), product_id INTEGER REFERENCES products (id),
    quantity INTEGER, unit_price REAL
);
INSERT INTO customers VALUES
    (1, 'Ada', 'Lemmer', 'Bergen', '2022-11-03'), (2, 'Bo', 'Tennant', 'Oslo', '2022-12-19'),
    (3, 'Cid', 'Roth', 'Bergen', '2023-02-01'), (4, 'Dana', 'Ostby', 'Bodo', '2023-03-15'),
    (5, 'Eli', 'Moen', 'Bergen', '2023-05-30'), (6, 'Frida', 'Haug', 'Oslo', '2023-08-08'),
    (7, 'Gus', 'Nyberg', 'Oslo', '2024-01-20'), (8, 'Hedda', 'Lie', 'Bodo', '2024-02-11');
INSERT INTO products VALUES
    (1, 'Ember', 'Lamp', 80, 45.5, 12), (2, 'Firefly', 'Lamp', 40, 22, 30), (3, 'Perch', 'Chair', 120, 70, 8),
    (4, 'Nest', 'Chair', 150, 95, 5), (5, 'Plain', 'Table', 400, 260, 3), (6, 'Meadow', 'Table', 320, 210, 0),
    (7, 'Cloud', 'Rug', 90, 60, 14);
INSERT INTO orders VALUES
    (1, 1, '2023-01-14'), (2, 2, '2023-02-03'), (3, 1, '2023-04-21'), (4, 3, '2023-06-09'), (5, 4, '2023-07-02'),
    (6, 1, '2023-11-27'), (7, 2, '2024-01-08'), (8, 5, '2024-01-30'), (9, 1, '2024-02-16'), (10, 2, '2024-04-05'),
    (11, 6, '2024-05-19'), (12, 5, '2024-05-23'), (13, 2, '2024-09-12'), (14, 6, '2024-12-01');
INSERT INTO order_items VALUES
    (1, 1, 1, 2, 80), (2, 1, 3, 1, 115), (3, 2, 2, 4, 38.5), (4, 3, 5, 1, 390), (5, 4, 2, 1, 40), (6, 4, 1, 1, 80),
    (7, 5, 3, 2, 120), (8, 6, 2, 3, 40), (9, 7, 4, 2, 150), (10, 7, 1, 1, 80), (11, 8, 6, 1, 300), (12, 9, 2, 2, 40),
    (13, 10, 3, 4, 110), (14, 11, 5, 1, 400), (15, 11, 4, 1, 150), (16, 12, 1, 3, 75), (17, 13, 2, 2, 40),
    (18, 14, 1, 1, 80);
