CREATE TABLE guests (guest_id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
CREATE TABLE rooms (room_id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT, beds INTEGER);
CREATE TABLE stays (
  stay_id INTEGER PRIMARY KEY, guest_id INTEGER NOT NULL REFERENCES guests(guest_id),
  room_id INTEGER NOT NULL REFERENCES rooms(room_id), check_in DATE NOT NULL, check_out DATE, total DECIMAL(8,2));
INSERT INTO guests VALUES (1,'Anke Rue','Germany'), (2,'Berto Sala','Italy'), (3,'Chloe Dune','France'), (4,'Dirk Maas','Germany');
INSERT INTO rooms VALUES (1,'Blue','single',1), (2,'Green','double',2), (3,'Amber','double',2), (4,'Attic','suite',4);
INSERT INTO stays VALUES (1,1,2,'2023-02-03','2023-02-05',180.00), (2,2,1,'2023-04-10','2023-04-17',420.00),
  (3,3,4,'2023-07-22','2023-08-05',2400.00), (4,1,1,'2023-12-30','2024-01-02',210.00), (5,4,3,'2024-03-16','2024-03-17',95.00),
  (6,2,2,'2024-05-06','2024-05-10',380.00), (7,3,3,'2024-08-03','2024-08-13',980.00), (8,1,4,'2024-10-12','2024-10-15',560.00),
  (9,4,1,'2024-12-20','2024-12-23',200.00), (10,2,2,'2024-12-29',NULL,NULL);
