CREATE TABLE doctors (doctor_id INTEGER PRIMARY KEY, name TEXT, specialty TEXT, hired_on DATE);
CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, name TEXT, town TEXT, born DATE);
CREATE TABLE visits (
    visit_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients (patient_id),
    doctor_id INTEGER REFERENCES doctors (doctor_id), visit_date DATE, minutes INTEGER, fee REAL
);
CREATE TABLE prescriptions (
    prescription_id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES visits (visit_id), medicine TEXT, units INTEGER,
    unit_cost REAL
);
INSERT INTO doctors VALUES
    (1, 'Ingrid Vale', 'cardiologist', '2015-04-01'), (2, 'Jonas Brandt', 'dentist', '2018-09-15'),
    (3, 'Karin Sole', 'surgeon', '2020-01-10'), (4, 'Leif Amdal', 'dentist', '2024-10-01');
INSERT INTO patients VALUES
    (1, 'Mia Stroem', 'Halden', '1980-02-02'), (2, 'Nils Graff', 'Moss', '1975-06-30'),
    (3, 'Olga Dahl', 'Halden', '1992-12-12'), (4, 'Per Lunde', 'Moss', '2001-01-25'),
    (5, 'Quin Hart', 'Askim', '1968-09-09'), (6, 'Rita Noor', 'Askim', '1999-03-17'),
    (7, 'Sven Bakke', 'Halden', '1955-07-21');
INSERT INTO visits VALUES
    (1, 1, 1, '2023-03-02', 30, 120), (2, 1, 2, '2023-03-20', 45, 90), (3, 2, 1, '2023-05-11', 20, 80),
    (4, 3, 3, '2023-09-07', 90, 340.5), (5, 4, 2, '2023-10-10', 30, 75), (6, 1, 1, '2024-01-15', 30, 125),
    (7, 2, 1, '2024-01-22', 25, 110), (8, 5, 1, '2024-02-05', 40, 150), (9, 3, 2, '2024-04-18', 30, 85),
    (10, 1, 1, '2024-04-25', 20, 100), (11, 4, 2, '2024-06-03', 60, 140), (12, 2, 1, '2024-08-30', 30, 120),
    (13, 6, 2, '2024-11-11', 30, 80);
INSERT INTO prescriptions VALUES
    (1, 1, 'Cardol', 30, 0.8), (2, 3, 'Cardol', 60, 0.8), (3, 4, 'Dolomin', 20, 1.5), (4, 6, 'Cardol', 30, 0.9),
    (5, 6, 'Sedan', 10, 2.4), (6, 8, 'Sedan', 20, 2.4), (7, 11, 'Dolomin', 12, 1.6), (8, 12, 'Cardol', 60, 0.9);
