// Evidence's connector: each query is counted, then read by a cursor.  Prints one line per finding.  Run by
// test/t/060_clients.pl:
//
//   node evidence_client.js HOST PORT USER
"use strict";
const ask = require("@evidence-dev/postgres");
const [host, port, user] = process.argv.slice(2);
const database = {host, port: Number(port), user, database: "postgres", password: "none"};

async function rows(sql) {
	const answer = await ask(sql, database);
	const all = [];

	for await (const batch of answer.rows())
		all.push(...batch);
	return [all, answer];
}

(async () => {
	console.log("connected:", await ask.testConnection(database));
	try {
		console.log("preview:", (await rows("select * from sales.orders_v"))[0].length);
	} catch (error) {
		console.log("preview:", error.message);
	}
	const sql = "select region, count(*) as n, avg(amount) as mean from sales.orders_v where ordered_at >= '2025-04-01' and amount > 25 group by 1 order by 1";
	const answers = [];

	for (let i = 0; i < 3; i++)
		answers.push(await rows(sql));
	console.log("regions:", answers[0][0].map(row => row.region).join(" "));
	console.log("counts:", answers[0][0].map(row => row.n).join(" "));
	console.log("types:", answers[0][1].columnTypes.map(column => `${column.name} ${column.evidenceType}`).join(" "));
	console.log("expected:", answers[0][1].expectedRowCount);
	console.log("same:", answers.every(answer => JSON.stringify(answer[0]) === JSON.stringify(answers[0][0])));
})().catch(error => { console.error(error); process.exit(1); });
