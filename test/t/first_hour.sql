-- The shop that 065_first_hour.pl asks about: eleven tables of a film rental, as a newcomer may have them.  All of it is made
-- up here, by a hash of each row's number, so it is the same each time.
--
--   countries <- cities <- addresses <- customers <- rentals <- payments
--                          addresses <- stores <- staff, copies
--   categories <- films <- copies <- rentals
--
-- 4,000 customers have from 1 to 4 rentals each in 2024.

CREATE SCHEMA shop;
SET search_path = shop;

-- pick(WHAT, I, N): a whole number from 0 to N - 1
CREATE FUNCTION pick(text, int, int) RETURNS int LANGUAGE sql IMMUTABLE
	AS $$SELECT (('x' || left(md5($1 || ' ' || $2), 7))::bit(28)::int % $3)$$;

CREATE TABLE countries (country_id int PRIMARY KEY, country text NOT NULL);
INSERT INTO countries SELECT i, (ARRAY['Norland','Sudland','Westria','Ostria'])[i] FROM generate_series(1, 4) i;

CREATE TABLE cities (city_id int PRIMARY KEY, city text NOT NULL, country_id int NOT NULL REFERENCES countries);
INSERT INTO cities SELECT i, 'City ' || i, 1 + pick('country', i, 7) % 4 FROM generate_series(1, 40) i;

CREATE TABLE addresses (address_id int PRIMARY KEY, street text NOT NULL, city_id int NOT NULL REFERENCES cities);
INSERT INTO addresses SELECT i, i || ', Main Street', 1 + pick('city', i, 40) FROM generate_series(1, 4020) i;

CREATE TABLE stores (store_id int PRIMARY KEY, address_id int NOT NULL REFERENCES addresses);
INSERT INTO stores VALUES (1, 4001), (2, 4002), (3, 4003);

CREATE TABLE staff (staff_id int PRIMARY KEY, name text NOT NULL, store_id int NOT NULL REFERENCES stores, address_id int NOT NULL REFERENCES addresses);
INSERT INTO staff SELECT i, 'Clerk ' || i, 1 + i % 3, 4003 + i FROM generate_series(1, 9) i;

CREATE TABLE customers (customer_id int PRIMARY KEY, name text NOT NULL, born date, store_id int NOT NULL REFERENCES stores,
	address_id int NOT NULL REFERENCES addresses, active boolean NOT NULL);
INSERT INTO customers SELECT i, 'Customer ' || i, date '1950-01-01' + pick('born', i, 20000), 1 + pick('home', i, 3), i, pick('active', i, 10) > 0
	FROM generate_series(1, 4000) i;

CREATE TABLE categories (category_id int PRIMARY KEY, category text NOT NULL);
INSERT INTO categories SELECT i, (ARRAY['Action','Comedy','Drama','Family','Horror'])[i] FROM generate_series(1, 5) i;

CREATE TABLE films (film_id int PRIMARY KEY, title text NOT NULL, category_id int NOT NULL REFERENCES categories, minutes int NOT NULL, rate numeric(4,2) NOT NULL);
INSERT INTO films SELECT i, 'Film ' || i, 1 + pick('category', i, 9) % 5, 60 + pick('minutes', i, 120), 0.99 + pick('rate', i, 3) FROM generate_series(1, 1000) i;

CREATE TABLE copies (copy_id int PRIMARY KEY, film_id int NOT NULL REFERENCES films, store_id int NOT NULL REFERENCES stores);
INSERT INTO copies SELECT i, 1 + i % 1000, 1 + i % 3 FROM generate_series(1, 2500) i;

CREATE TABLE rentals (rental_id int PRIMARY KEY, rented_at timestamp NOT NULL, copy_id int NOT NULL REFERENCES copies,
	customer_id int NOT NULL REFERENCES customers, returned_at timestamp, staff_id int NOT NULL REFERENCES staff);
INSERT INTO rentals
	SELECT i, rented_at, 1 + pick('copy', i, 2500), customer_id,
	       CASE WHEN pick('lost', i, 30) > 0 THEN rented_at + (1 + pick('days', i, 9)) * interval '1 day' END, 1 + pick('staff', i, 9)
	  FROM (SELECT row_number() OVER (ORDER BY c.customer_id, n)::int AS i, c.customer_id FROM customers c, generate_series(1, 1 + pick('rentals', c.customer_id, 4)) n) r,
	       LATERAL (SELECT timestamp '2024-01-01 09:00' + pick('day', i, 366) * (50 + pick('season', i, 51)) / 100 * interval '1 day' + pick('hour', i, 12) * interval '1 hour' AS rented_at) d;

CREATE TABLE payments (payment_id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers, rental_id int NOT NULL REFERENCES rentals,
	amount numeric(5,2) NOT NULL, paid_at timestamp NOT NULL);
INSERT INTO payments SELECT r.rental_id, r.customer_id, r.rental_id, f.rate + pick('late', r.rental_id, 4), r.rented_at
	  FROM rentals r JOIN copies USING (copy_id) JOIN films f USING (film_id);
