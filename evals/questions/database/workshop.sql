-- A bicycle workshop that does not exist: the database of the labelled questions in questions.jsonl.
CREATE TABLE mechanic (mechanic_id INTEGER PRIMARY KEY, name TEXT, hired INTEGER, hourly_rate REAL, speciality TEXT);
CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, name TEXT, town TEXT, since INTEGER);
CREATE TABLE bicycle (
    bicycle_id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (customer_id), brand TEXT, kind TEXT,
    built INTEGER, wheel_inches REAL
);
CREATE TABLE repair (
    repair_id INTEGER PRIMARY KEY, bicycle_id INTEGER REFERENCES bicycle (bicycle_id),
    mechanic_id INTEGER REFERENCES mechanic (mechanic_id), day TEXT, hours REAL, status TEXT
);
CREATE TABLE part (part_id INTEGER PRIMARY KEY, name TEXT, price REAL, stock INTEGER);
CREATE TABLE repair_part (
    repair_id INTEGER REFERENCES repair (repair_id), part_id INTEGER REFERENCES part (part_id), quantity INTEGER
);
INSERT INTO mechanic VALUES (1, 'Runa Solbakk', 2009, 62.0, 'wheels'), (2, 'Piet Oost', 2015, 54.5, 'brakes'),
    (3, 'Imke Varga', 2018, 51.0, 'gears'), (4, 'Teo Lindahl', 2022, 44.0, 'brakes');
INSERT INTO customer VALUES (1, 'Mira Falk', 'Ekeby', 2012), (2, 'Jonas Brede', 'Lunde', 2016),
    (3, 'Selma Quist', 'Ekeby', 2019), (4, 'Arvo Niit', 'Torsvik', 2020), (5, 'Dora Halm', 'Lunde', 2023),
    (6, 'Lev Karst', 'Torsvik', 2023);
INSERT INTO bicycle VALUES (1, 1, 'Falkon', 'touring', 2010, 28.0), (2, 1, 'Pellworm', 'cargo', 2019, 26.0),
    (3, 2, 'Falkon', 'racing', 2016, 28.0), (4, 3, 'Vindr', 'city', 2018, 28.0), (5, 3, 'Vindr', 'child', 2021, 20.0),
    (6, 4, 'Pellworm', 'cargo', 2020, 26.0), (7, 5, 'Falkon', 'touring', 2023, 29.0), (8, 5, 'Morro', 'racing', 2022, 28.0);
INSERT INTO repair VALUES (1, 1, 1, '2023-03-02', 1.5, 'done'), (2, 1, 2, '2023-05-19', 0.5, 'done'),
    (3, 2, 2, '2023-05-20', 3.0, 'done'), (4, 3, 3, '2023-06-11', 2.0, 'done'), (5, 4, 1, '2023-08-30', 1.0, 'cancelled'),
    (6, 6, 2, '2024-01-15', 2.5, 'done'), (7, 6, 3, '2024-02-03', 4.0, 'done'), (8, 7, 1, '2024-02-21', 1.0, 'done'),
    (9, 8, 3, '2024-04-09', 1.5, 'open'), (10, 3, 2, '2024-04-12', 0.5, 'open');
INSERT INTO part VALUES (1, 'brake pad', 8.5, 40), (2, 'chain', 24.0, 12), (3, 'inner tube', 6.0, 65),
    (4, 'rim', 48.0, 3), (5, 'bell', 9.0, 0), (6, 'cassette', 55.0, 5);
INSERT INTO repair_part VALUES (1, 4, 1), (1, 3, 1), (2, 1, 2), (3, 1, 4), (3, 2, 1), (4, 6, 1), (4, 2, 1), (6, 1, 2),
    (7, 6, 1), (7, 2, 1), (8, 3, 2), (9, 2, 1), (10, 1, 2);
