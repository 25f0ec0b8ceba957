CREATE TABLE bikes (bike_id INTEGER PRIMARY KEY, model TEXT NOT NULL, kind TEXT, daily_rate DECIMAL(6,2) NOT NULL);
CREATE TABLE riders (rider_id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
CREATE TABLE hires (
  hire_id INTEGER PRIMARY KEY, bike_id INTEGER NOT NULL REFERENCES bikes(bike_id),
  rider_id INTEGER NOT NULL REFERENCES riders(rider_id), started_on DATE NOT NULL, days INTEGER NOT NULL);
CREATE TABLE repairs (
  repair_id INTEGER PRIMARY KEY, bike_id INTEGER NOT NULL REFERENCES bikes(bike_id), done_on DATE, cost DECIMAL(6,2));
INSERT INTO bikes VALUES (1,'Trailer 5','mountain',24.00), (2,'Trailer 7','mountain',31.00), (3,'Metro','city',14.50),
  (4,'Metro Plus','city',17.00), (5,'Volt','electric',42.00);
INSERT INTO riders VALUES (1,'Ines Roca','Spain'), (2,'Jan Kok','Netherlands'), (3,'Kim Day','UK'),
  (4,'Lia Serra','Spain');
INSERT INTO hires VALUES (1,1,1,'2023-04-03',2), (2,3,2,'2023-05-20',5), (3,5,3,'2023-07-02',1),
  (4,2,1,'2023-07-15',3), (5,4,4,'2023-10-01',4), (6,1,2,'2024-02-14',2), (7,5,1,'2024-04-22',3),
  (8,3,3,'2024-06-30',6), (9,2,4,'2024-08-11',2), (10,5,2,'2024-08-19',2), (11,4,3,'2024-11-05',1);
INSERT INTO repairs VALUES (1,1,'2023-05-01',40.00), (2,5,'2024-05-10',120.00), (3,3,'2024-07-08',25.50);
