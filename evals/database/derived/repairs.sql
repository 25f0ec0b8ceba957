CREATE TABLE technicians (technician_id INTEGER PRIMARY KEY, name TEXT NOT NULL, workshop TEXT);
CREATE TABLE owners (owner_id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);
CREATE TABLE repairs (
  repair_id INTEGER PRIMARY KEY, owner_id INTEGER NOT NULL REFERENCES owners(owner_id),
  technician_id INTEGER REFERENCES technicians(technician_id), device TEXT, received_on DATE NOT NULL,
  finished_on DATE, price DECIMAL(8,2));
INSERT INTO technicians VALUES (1,'Ona Wills','North'), (2,'Pat Stone','South'), (3,'Quin Abbey','North');
INSERT INTO owners VALUES (1,'Abel Marsh','York'), (2,'Bea Holm','Leeds'), (3,'Cy Noble','York'), (4,'Di Paget',NULL);
INSERT INTO repairs VALUES (1,1,1,'laptop','2023-03-06','2023-03-10',120.00), (2,2,2,'phone','2023-05-13','2023-05-15',60.00),
  (3,1,3,'tablet','2023-09-01','2023-09-21',95.00), (4,3,1,'laptop','2024-01-08','2024-01-19',210.00),
  (5,4,2,'phone','2024-02-17','2024-02-20',45.00), (6,2,1,'camera','2024-06-03','2024-06-04',80.00),
  (7,3,3,'laptop','2024-08-26','2024-09-06',150.00), (8,1,2,'phone','2024-11-30','2024-12-02',70.00),
  (9,2,1,'phone','2024-12-09','2024-12-14',65.00), (10,4,3,'tablet','2024-12-27',NULL,NULL);
