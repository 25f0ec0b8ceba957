CREATE TABLE clients (client_id INTEGER PRIMARY KEY, company TEXT, city TEXT, country TEXT);
CREATE TABLE drivers (driver_id INTEGER PRIMARY KEY, name TEXT, depot TEXT, hired_on DATE);
CREATE TABLE shipments (
    shipment_id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES clients (client_id),
    driver_id INTEGER REFERENCES drivers (driver_id), booked_on DATE, status TEXT, goods TEXT, weight_kg REAL,
    price REAL, cost REAL
);
CREATE TABLE claims (
    claim_id INTEGER PRIMARY KEY, shipment_id INTEGER REFERENCES shipments (shipment_id), filed_on DATE, amount REAL
);
INSERT INTO clients VALUES
    (1, 'Alder Foods', 'Hamburg', 'Germany'), (2, 'Birch & Sons', 'Vienna', 'Austria'), (3, 'Cedar Tools', 'Munich', 'Germany'),
    (4, 'Dogwood Living', 'Lyon', 'France'), (5, 'Elm Bakery', 'Graz', 'Austria'), (6, 'Fir Machines', 'Hamburg', 'Germany'),
    (7, 'Ginkgo Trade', NULL, NULL), (8, 'Elm Bakery', 'Lyon', 'France');
INSERT INTO drivers VALUES
    (1, 'Jan Novak', 'North', '2017-03-01'), (2, 'Eva Kral', 'South', '2019-06-15'), (3, 'Jan Novak', 'South', '2021-09-20'),
    (4, 'Tom Reid', 'North', '2022-02-01'), (5, 'Ute Sommer', NULL, '2024-11-04');
INSERT INTO shipments VALUES
    (1, 1, 1, '2023-01-12', 'delivered', 'food', 400, 520, 390), (2, 1, 1, '2023-03-05', 'delivered', 'food', 350, 480, 350),
    (3, 2, 2, '2023-04-18', 'delivered', 'furniture', 900, 1250, 800), (4, 3, 3, '2023-05-22', 'delivered', 'machinery', 1500, 2100, 1700),
    (5, 4, NULL, '2023-07-09', 'lost', 'furniture', 700, 900, 650), (6, 6, NULL, '2023-08-30', 'cancelled', 'machinery', NULL, NULL, NULL),
    (7, 5, 2, '2023-10-11', 'delivered', 'food', 150, 210, 160), (8, 3, 1, '2023-11-27', 'delivered', 'furniture', 600, 840, NULL),
    (9, 1, 1, '2024-01-08', 'delivered', 'food', 420, 560, 410), (10, 2, 2, '2024-01-25', 'delivered', 'furniture', 1000, 1400, 850),
    (11, 2, 2, '2024-02-14', 'delivered', 'food', 200, 310, 240), (12, 6, 3, '2024-03-03', 'delivered', 'machinery', 2200, 3100, 2600),
    (13, 7, 4, '2024-03-19', 'delivered', 'food', NULL, 150, 120), (14, 4, NULL, '2024-04-02', 'cancelled', 'furniture', 500, NULL, NULL),
    (15, 6, 1, '2024-05-16', 'delivered', 'machinery', 1800, 2500, 2050), (16, 8, 2, '2024-06-21', 'delivered', 'food', 120, 190, 150),
    (17, 3, 3, '2024-08-07', 'lost', 'machinery', 1300, 1900, 1500), (18, 1, 4, '2024-09-29', NULL, 'machinery', 800, 1150, 900),
    (19, 1, 1, '2024-12-20', 'booked', 'food', 380, 510, NULL), (20, 6, 1, '2024-12-22', 'delivered', 'furniture', 300, 450, 300);
INSERT INTO claims VALUES
    (1, 5, '2023-07-20', 600), (2, 3, '2023-05-02', 120), (3, 17, '2024-08-15', 1500), (4, 12, '2024-03-10', NULL), (5, 17, '2024-09-01', 200);
