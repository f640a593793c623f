# A notebook's way: pandas through SQLAlchemy.  Prints one line per finding.  Run by
# test/t/060_clients.pl:
#
#   python3 pandas_client.py URL
import sys

import pandas
import sqlalchemy
from sqlalchemy import text

engine = sqlalchemy.create_engine(sys.argv[1])
ask = text("SELECT query, label, estimate, stderr, release FROM dp.histogram(:dataset, :attributes, epsilon => :epsilon)")
with engine.connect() as connection:
    answer = pandas.read_sql(ask, connection, params={"dataset": "people", "attributes": ["age", "sex"], "epsilon": 0.5})
    print("replay:", len(answer), "rows of release", answer["release"].iloc[0])
    print("label:", answer["label"].iloc[0]["sex"], answer["label"].iloc[0]["age"]["from"])
    paid = pandas.read_sql(ask, connection, params={"dataset": "people", "attributes": "sex", "epsilon": 0.3})
    print("paid:", len(paid), "rows")
    report = pandas.read_sql_table("report", connection)
    print("types:", report["age_from"].dtype, report["sex"].dtype, report["estimate"].dtype)
    table = report.pivot(index="age_from", columns="sex", values="estimate")
    print("pivot:", table.shape[0], "x", table.shape[1], list(table.columns))
    print("sum:", int(report["estimate"].sum() // 1))
