CREATE TABLE plans (plan_id INTEGER PRIMARY KEY, name TEXT NOT NULL, monthly_fee DECIMAL(6,2) NOT NULL);
CREATE TABLE members (
  member_id INTEGER PRIMARY KEY, name TEXT NOT NULL, plan_id INTEGER NOT NULL REFERENCES plans(plan_id),
  joined_on DATE NOT NULL);
CREATE TABLE equipment (
  equipment_id INTEGER PRIMARY KEY, name TEXT NOT NULL, quantity INTEGER NOT NULL, unit_price DECIMAL(8,2));
CREATE TABLE check_ins (
  check_in_id INTEGER PRIMARY KEY, member_id INTEGER NOT NULL REFERENCES members(member_id), day DATE NOT NULL);
INSERT INTO plans VALUES (1,'Basic',25.00), (2,'Full',45.00), (3,'Family',70.00);
INSERT INTO members VALUES (1,'Mia Orr',1,'2023-01-10'), (2,'Ned Poe',2,'2023-06-02'), (3,'Ola Quist',2,'2024-02-20'),
  (4,'Pia Rand',3,'2024-09-01'), (5,'Rik Sol',1,'2024-09-15');
INSERT INTO equipment VALUES (1,'Treadmill',6,2400.00), (2,'Kettlebell',20,35.00), (3,'Rower',4,1100.00);
INSERT INTO check_ins VALUES (1,1,'2024-07-02'), (2,1,'2024-08-09'), (3,2,'2024-08-10'), (4,3,'2024-08-11'),
  (5,2,'2024-10-01'), (6,4,'2024-10-03'), (7,5,'2024-11-20'), (8,2,'2024-12-05'), (9,3,'2024-12-06');
