CREATE TABLE plays (play_id INTEGER PRIMARY KEY, title TEXT NOT NULL, genre TEXT);
CREATE TABLE visitors (visitor_id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);
CREATE TABLE performances (
  performance_id INTEGER PRIMARY KEY, play_id INTEGER NOT NULL REFERENCES plays(play_id), starts_on DATE NOT NULL,
  hall TEXT, ticket_price DECIMAL(6,2) NOT NULL, capacity INTEGER);
CREATE TABLE bookings (
  booking_id INTEGER PRIMARY KEY, performance_id INTEGER NOT NULL REFERENCES performances(performance_id),
  visitor_id INTEGER REFERENCES visitors(visitor_id), seats INTEGER NOT NULL);
INSERT INTO plays VALUES (1,'Hamlet','tragedy'), (2,'The Birds','comedy'), (3,'Peer Gynt','drama'),
  (4,'Macbeth','tragedy'), (5,'The Miser','comedy');
INSERT INTO visitors VALUES (1,'Anna Lund','Bergen'), (2,'Bo Ek','Uppsala'), (3,'Cleo Marsh','Bergen'),
  (4,'Dan Fry','Leeds'), (5,'Eva Holt',NULL);
INSERT INTO performances VALUES (1,1,'2023-02-11','Main',32.00,300), (2,1,'2023-08-19','Main',35.50,300),
  (3,2,'2023-05-06','Studio',18.00,90), (4,3,'2023-11-24','Main',28.00,300), (5,4,'2024-01-13','Main',36.00,300),
  (6,2,'2024-03-30','Studio',19.50,90), (7,5,'2024-06-08','Studio',21.00,90), (8,1,'2024-09-14','Main',38.00,300),
  (9,3,'2024-12-07','Main',30.00,300);
INSERT INTO bookings VALUES (1,1,1,2), (2,1,2,4), (3,2,3,1), (4,2,4,6), (5,3,1,3), (6,3,5,2), (7,4,2,2), (8,4,3,5),
  (9,5,4,4), (10,5,1,2), (11,6,3,7), (12,6,NULL,2), (13,7,2,3), (14,7,5,1), (15,8,1,4), (16,8,4,3), (17,9,3,2),
  (18,9,2,6), (19,9,5,1);
