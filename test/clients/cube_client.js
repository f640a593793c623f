// The driver that Cube reads PostgreSQL with, and a statement as Cube writes it.  Prints one line per finding.  Run by
// test/t/060_clients.pl:
//
//   node cube_client.js HOST PORT USER
"use strict";
const {PostgresDriver} = require("@cubejs-backend/postgres-driver");
const [host, port, user] = process.argv.slice(2);

(async () => {
	const driver = new PostgresDriver({host, port: Number(port), user, database: "postgres", password: "none"});

	await driver.testConnection();
	const schema = await driver.tablesSchema();

	console.log("listed:", Object.keys(schema.sales).filter(name => name.startsWith("orders_v")).sort().join(" "));
	console.log("columns:", schema.sales.orders_v.map(column => `${column.name} ${column.type}`).join(", "));
	console.log("types:", (await driver.tableColumnTypes("sales.orders_v")).map(column => `${column.name} ${column.type}`).join(", "));
	try {
		console.log("preview:", (await driver.query("SELECT * FROM sales.orders_v LIMIT 10", [])).length);
	} catch (error) {
		console.log("preview:", error.code, error.message);
	}
	const sql = `SELECT "orders".region "orders__region", count(*) "orders__count", sum("orders".amount) "orders__total" FROM sales.orders_v AS "orders"
		WHERE ("orders".ordered_at >= $1::timestamptz AND "orders".ordered_at <= $2::timestamptz) GROUP BY 1 ORDER BY 2 DESC LIMIT 10000`;
	const answers = [];

	for (let i = 0; i < 3; i++)
		answers.push(await driver.query(sql, ["2025-02-01T00:00:00.000Z", "2025-08-31T23:59:59.999Z"]));
	console.log("regions:", answers[0].map(row => row.orders__region).join(" "));
	console.log("counts:", answers[0].map(row => row.orders__count).join(" "));
	console.log("same:", answers.every(answer => JSON.stringify(answer) === JSON.stringify(answers[0])));
	await driver.release();
})().catch(error => { console.error(error); process.exit(1); });
