CREATE TABLE authors (author_id INTEGER PRIMARY KEY, name TEXT, country TEXT);
CREATE TABLE books (
    book_id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES authors (author_id), genre TEXT,
    copies INTEGER, purchase_price REAL
);
CREATE TABLE members (member_id INTEGER PRIMARY KEY, full_name TEXT, membership TEXT, joined_on DATE);
CREATE TABLE loans (
    loan_id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES books (book_id),
    member_id INTEGER REFERENCES members (member_id), loaned_on DATE, returned_on DATE, fine REAL
);
CREATE TABLE events (
    event_id INTEGER PRIMARY KEY, title TEXT, held_on DATE, visitors INTEGER, income REAL, expenses REAL
);
INSERT INTO authors VALUES
    (1, 'Tove Aker', 'Norway'), (2, 'Ulla Berg', 'Sweden'), (3, 'Vito Carli', 'Italy'), (4, 'Wanda Dusek', 'Poland');
INSERT INTO books VALUES
    (1, 'Silent Rivers', 1, 'novel', 3, 18.5), (2, 'The Salt Road', 1, 'novel', 2, 21), (3, 'Small Engines', 2, 'guide', 1, 35),
    (4, 'Garden Year', 2, 'guide', 2, 27.9), (5, 'Late Snow', 3, 'poetry', 1, 14), (6, 'Harbour Songs', 3, 'poetry', 2, 12.5),
    (7, 'A Winter Crossing', 1, 'novel', 4, 19);
INSERT INTO members VALUES
    (1, 'Xenia Ross', 'adult', '2021-03-01'), (2, 'Yngve Holm', 'student', '2022-10-12'), (3, 'Zara Finch', 'adult', '2023-01-05'),
    (4, 'Arvid Kolb', 'child', '2023-06-20'), (5, 'Britt Lang', 'student', '2024-02-28'), (6, 'Carl Munk', 'adult', '2024-07-07');
INSERT INTO loans VALUES
    (1, 1, 1, '2023-01-10', '2023-02-01', 0), (2, 2, 1, '2023-02-14', '2023-03-20', 2.5), (3, 3, 2, '2023-02-20', '2023-03-01', 0),
    (4, 1, 3, '2023-08-02', '2023-09-30', 6), (5, 5, 2, '2023-08-15', '2023-08-29', 0), (6, 4, 3, '2024-03-03', '2024-03-17', 0),
    (7, 1, 2, '2024-03-09', '2024-04-30', 4.5), (8, 7, 4, '2024-06-01', '2024-06-12', 0), (9, 3, 3, '2024-06-22', '2024-08-01', 3.5),
    (10, 7, 1, '2024-10-05', '2024-10-15', 0), (11, 2, 3, '2024-10-30', '2024-12-20', 5);
INSERT INTO events VALUES
    (1, 'Poetry Night', '2023-04-22', 40, 400, 250), (2, 'Book Fair', '2023-09-16', 310, 2150, 1700),
    (3, 'Reading Week', '2024-02-12', 120, 300, 520.5), (4, 'Crime Evening', '2024-05-08', 65, 780, 420),
    (5, 'Summer Tales', '2024-05-25', 85, 210, 260), (6, 'Winter Fair', '2024-12-07', 280, 1900, 1350);
