#!/usr/bin/env python3
"""A dashboard of eight tiles over the view clinic.board: sends plain SQL, as any client does.

serve.py [PORT]   serves http://127.0.0.1:PORT/ [a free port] until it is ended; libpq's variables (PGHOST, PGUSER, ...)
                  say where the database is.  Needs psycopg2 (Debian: python3-psycopg2).
"""
import decimal
import http.server
import json
import os
import sys
import urllib.parse

import psycopg2

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = {"/": ("page.html", "text/html"), "/page.js": ("page.js", "text/javascript"), "/page.css": ("page.css", "text/css")}

# {where} is what the filters say.
TILES = {
    "stays": "SELECT count(*) AS stays, dp.stderr_count(*) AS error FROM clinic.board{where}",
    "rating": "SELECT avg(rating) AS rating, dp.stderr_avg(rating) AS error FROM clinic.board{where}",
    "unhappy": "SELECT 100 * avg(CASE WHEN rating <= 2 THEN 1 ELSE 0 END) AS share, "
               "100 * dp.stderr_avg(CASE WHEN rating <= 2 THEN 1 ELSE 0 END) AS error FROM clinic.board{where}",
    "old": "SELECT 100 * avg(CASE WHEN age >= 80 THEN 1 ELSE 0 END) AS share, "
           "100 * dp.stderr_avg(CASE WHEN age >= 80 THEN 1 ELSE 0 END) AS error FROM clinic.board{where}",
    "months": "SELECT admitted AS month, count(*) AS stays, dp.stderr_count(*) AS error FROM clinic.board{where} "
              "GROUP BY admitted ORDER BY admitted",
    "wards": "SELECT ward, count(*) AS stays, dp.stderr_count(*) AS error FROM clinic.board{where} "
             "GROUP BY ROLLUP (ward) ORDER BY ward",
    "ages": "SELECT ward, age, count(*) AS stays, dp.stderr_count(*) AS error FROM clinic.board{where} "
            "GROUP BY ward, age ORDER BY ward, age",
    "sexes": "SELECT ward, sex, count(*) AS stays, dp.stderr_count(*) AS error, avg(rating) AS rating FROM clinic.board{where} "
             "GROUP BY CUBE (ward, sex) ORDER BY ward, sex",
}

# What a filter of the address means; it is left out where it is not set.
FILTERS = {
    "from": "admitted >= %(from)s",
    "to": "admitted < %(to)s::date + 1",
    "ward": "ward = ANY (%(ward)s)",
    "sex": "sex = %(sex)s",
}


def plain(value):
    """A value as JSON has it."""
    if value is None or isinstance(value, (int, str)):
        return value
    return float(value) if isinstance(value, (float, decimal.Decimal)) else str(value)


def ask(query):
    """All tiles for the filters of an address: rows, and the SQL that was sent."""
    given = {name: query[name][-1] for name in FILTERS if name in query}
    where = " AND ".join(FILTERS[name] for name in given)
    if "ward" in given:
        given["ward"] = given["ward"].split(",")
    answer = {"tiles": {}}
    connection = psycopg2.connect("")
    try:
        connection.autocommit = True
        with connection.cursor() as cursor:
            for name, sql in TILES.items():
                cursor.execute(sql.format(where=" WHERE " + where if where else ""), given)
                rows = [dict(zip([c.name for c in cursor.description], map(plain, row))) for row in cursor]
                answer["tiles"][name] = {"sql": cursor.query.decode(), "rows": rows}
        answer["notices"] = sorted(set(connection.notices))
    finally:
        connection.close()
    return answer


class Handler(http.server.BaseHTTPRequestHandler):
    """The page, and its numbers."""

    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        if address.path in FILES:
            name, kind = FILES[address.path]
            with open(os.path.join(HERE, name), "rb") as file:
                self.reply(200, kind, file.read())
        elif address.path == "/tiles":
            try:
                self.reply(200, "application/json", json.dumps(ask(urllib.parse.parse_qs(address.query))).encode())
            except psycopg2.Error as error:
                self.reply(400, "text/plain", str(error).encode())
        else:
            self.reply(404, "text/plain", b"There is no such page.")

    def reply(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind + "; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
