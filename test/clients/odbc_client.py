# A spreadsheet's way: psqlODBC with cursors (declare/fetch), autocommit off and a savepoint for each statement.  Prints one line
# per finding.  Run by test/t/060_clients.pl:
#
#   python3 odbc_client.py HOST PORT USER
import datetime
import sys

import pyodbc

host, port, user = sys.argv[1:]
connection = pyodbc.connect(
    f"Driver={{PostgreSQL Unicode}};Servername={host};Port={port};Database=postgres;UserName={user};"
    "UseDeclareFetch=1;Fetch=2;Protocol=7.4-2",
    autocommit=False,
)
cursor = connection.cursor()
print("listed:", ", ".join(f"{t.table_name} {t.table_type}" for t in cursor.tables(schema="sales") if t.table_name.startswith("orders_v")))
print("columns:", ", ".join(f"{c.column_name} {c.type_name}" for c in cursor.columns(schema="sales", table="orders_v")))
try:
    print("preview:", cursor.execute("SELECT * FROM sales.orders_v").fetchmany(5))
except pyodbc.Error as error:
    print("preview:", error.args[0], error.args[1].splitlines()[0])
# the savepoint was rolled back to, and the transaction goes on
print("nothing:", len(cursor.execute("SELECT * FROM sales.orders_v LIMIT 0").fetchall()), "rows,", len(cursor.description), "columns")
select = "SELECT region, count(*), avg(amount) FROM sales.orders_v WHERE ordered_at < ? AND region <> ? GROUP BY region ORDER BY 2 DESC"
answers = [cursor.execute(select, datetime.datetime(2025, 6, 1), "west").fetchall() for _ in range(6)]
print("regions:", ", ".join(row[0] for row in answers[0]))
print("counts:", *(row[1] for row in answers[0]))
print("same:", all([tuple(row) for row in answer] == [tuple(row) for row in answers[0]] for answer in answers))
drawn = cursor.execute("SELECT * FROM drawn").fetchall()
print("drawn:", len(drawn), "rows,", ", ".join(f"{c.column_name} {c.type_name}" for c in cursor.columns(table="drawn")))
connection.rollback()
print("again:", [tuple(row) for row in cursor.execute(select, datetime.datetime(2025, 6, 1), "west")] == [tuple(row) for row in answers[0]])
connection.commit()
