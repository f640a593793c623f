# A notebook's way: pandas through SQLAlchemy, by functions and by SELECT.  Prints one line per finding.  Run by
# test/t/060_clients.pl:
#
#   python3 pandas_client.py URL
import datetime
import sys

import pandas
import sqlalchemy
from sqlalchemy import func, text

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

inspector = sqlalchemy.inspect(engine)
print("listed:", inspector.get_view_names(schema="sales"), inspector.get_foreign_table_names(schema="sales"))
orders = sqlalchemy.Table("orders_v", sqlalchemy.MetaData(), schema="sales", autoload_with=engine)
print("reflected:", ", ".join(f"{c.name} {c.type}" for c in orders.columns))
try:
    with engine.connect() as connection:
        print("preview:", pandas.read_sql_table("orders_v", connection, schema="sales"))
except sqlalchemy.exc.DBAPIError as error:
    print("preview:", error.orig.pgcode, str(error.orig).splitlines()[0])
with engine.connect() as connection:
    print("nothing:", list(pandas.read_sql(sqlalchemy.select(orders).limit(0), connection).columns))
july = datetime.datetime(2025, 7, 1, tzinfo=datetime.timezone.utc)
by_region = (
    sqlalchemy.select(orders.c.region, func.count().label("n"), func.avg(orders.c.amount).label("mean"))
    .where(orders.c.ordered_at >= july)
    .group_by(orders.c.region)
    .order_by(sqlalchemy.desc("n"))
)
answers = []
for _ in range(3):
    with engine.connect() as connection:
        answers.append(pandas.read_sql(by_region, connection))
print("regions:", ", ".join(answers[0]["region"]), "types:", answers[0]["n"].dtype, answers[0]["mean"].dtype)
print("counts:", *answers[0]["n"])
print("same:", all(answer.equals(answers[0]) for answer in answers))
with engine.connect() as connection:
    print("filtered:", connection.execute(sqlalchemy.select(func.count()).select_from(
        sqlalchemy.select(orders).where(orders.c.amount > 50).subquery())).scalar())
