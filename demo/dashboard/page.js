// Draws the tiles of serve.py for the filters that are set.
"use strict";

const tile = name => document.getElementById(name);
const whole = value => value === null ? "–" : Math.round(value).toLocaleString("en");
const tenth = (value, unit = "") => value === null ? "–" : value.toFixed(1) + unit;
const BLUE = "#2060b0";

// One element of HTML or SVG, with its attributes and children.
function make(name, attributes = {}, ...children) {
	const svg = ["svg", "path", "rect", "line", "text", "g", "title"].includes(name);
	const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);

	for (const [key, value] of Object.entries(attributes))
		element.setAttribute(key, value);
	element.append(...children);
	return element;
}

const text = (x, y, words, anchor = "start", fill = "#3c4856") => make("text", {x, y, "text-anchor": anchor, fill}, words);

// What a tile shows, below its heading.
function show(name, ...content) {
	tile(name).replaceChildren(tile(name).querySelector("h2"), ...content);
}

function showNumber(name, value, error, words) {
	show(name, make("div", {class: "number", "data-total": name === "stays" ? value : ""}, words(value)),
		make("div", {class: "error"}, "± " + words(error)));
}

// A scale from 0 to the most, over so many pixels.
function scale(rows, pixels) {
	const most = Math.max(1, ...rows.map(row => (row.stays ?? 0) + (row.error ?? 0)));

	return value => Math.max(0, value ?? 0) / most * pixels;
}

function showMonths(rows) {
	const known = rows.filter(row => row.stays !== null);
	const high = scale(known, 125);
	const x = index => 50 + (index + 0.5) * 500 / Math.max(1, rows.length);
	const svg = make("svg", {viewBox: "0 0 560 175"}, make("line", {x1: 50, x2: 550, y1: 150, y2: 150, stroke: "#c3ccd6"}));
	let path = "";

	rows.forEach((row, index) => {
		if (index % Math.ceil(rows.length / 8) === 0)
			svg.append(text(x(index), 167, row.month.slice(0, 7), "middle"));
		if (row.stays === null)
			return;
		path += (path ? "L" : "M") + x(index) + " " + (150 - high(row.stays));
		svg.append(make("line", {x1: x(index), x2: x(index), y1: 150 - high(row.stays - row.error), y2: 150 - high(row.stays + row.error), stroke: "#9db8d8", "stroke-width": 4}));
	});
	svg.append(make("path", {d: path, fill: "none", stroke: BLUE, "stroke-width": 2}));
	if (known.length > 0)
		svg.append(text(44, 154 - high(Math.max(...known.map(row => row.stays))), whole(Math.max(...known.map(row => row.stays))), "end"), text(44, 154, "0", "end"));
	show("months", svg);
}

function showWards(rows) {
	const groups = rows.filter(row => row.ward !== null);
	const total = rows.find(row => row.ward === null);
	const wide = scale(groups, 360);
	const svg = make("svg", {viewBox: "0 0 560 175"});

	groups.forEach((row, index) => {
		const y = 6 + index * 34;

		svg.append(text(72, y + 16, row.ward, "end"), make("rect", {x: 80, y, width: wide(row.stays), height: 24, fill: BLUE}),
			make("line", {x1: 80 + wide(row.stays - row.error), x2: 80 + wide(row.stays + row.error), y1: y + 12, y2: y + 12, stroke: "#9db8d8", "stroke-width": 4}),
			text(88 + wide(row.stays + row.error), y + 16, whole(row.stays)));
	});
	const sum = text(80, 165, "all of them: " + whole(total.stays));

	sum.dataset.total = total.stays;
	svg.append(sum);
	show("wards", svg);
}

function showAges(rows) {
	const wards = [...new Set(rows.map(row => row.ward))];
	const ages = [...new Set(rows.map(row => row.age))];
	const shade = scale(rows, 1);
	const svg = make("svg", {viewBox: "0 0 560 175"});

	ages.forEach((age, index) => svg.append(text(80 + (index + 0.5) * 94, 168, age + " to " + (age + 19), "middle")));
	wards.forEach((ward, index) => svg.append(text(72, 24 + index * 38, ward, "end")));
	for (const row of rows) {
		const x = 80 + ages.indexOf(row.age) * 94;
		const y = wards.indexOf(row.ward) * 38;
		const cell = make("rect", {x, y, width: 92, height: 36, fill: row.stays === null ? "#f0f2f5" : BLUE, "fill-opacity": row.stays === null ? 1 : 0.12 + 0.88 * shade(row.stays)});

		cell.append(make("title", {}, `${row.ward}, ${row.age}: ${whole(row.stays)} ± ${whole(row.error)}`));
		svg.append(cell, text(x + 46, y + 23, whole(row.stays), "middle", row.stays !== null && shade(row.stays) > 0.4 ? "#fff" : "#3c4856"));
	}
	show("ages", svg);
}

function showSexes(rows) {
	const find = (ward, sex) => rows.find(row => row.ward === ward && row.sex === sex);
	const count = row => row === undefined ? "–" : whole(row.stays);
	const body = make("tbody");

	for (const all of rows.filter(row => row.sex === null)) {
		const words = [all.ward ?? "all", count(find(all.ward, "F")), count(find(all.ward, "M")), count(all), "± " + whole(all.error), tenth(all.rating)];
		const line = make("tr", all.ward === null ? {class: "sum", "data-total": all.stays} : {}, ...words.map(word => make("td", {}, word)));

		body.append(line);
	}
	show("sexes", make("table", {}, make("thead", {}, make("tr", {}, ...["ward", "F", "M", "both", "", "mean rating"].map(words => make("th", {}, words)))), body));
}

function draw({tiles, notices}) {
	const first = name => tiles[name].rows[0];

	showNumber("stays", first("stays").stays, first("stays").error, whole);
	showNumber("rating", first("rating").rating, first("rating").error, value => value === null ? "–" : value.toFixed(2));
	for (const name of ["unhappy", "old"])
		showNumber(name, first(name).share, first(name).error, value => tenth(value, " %"));
	showMonths(tiles.months.rows);
	showWards(tiles.wards.rows);
	showAges(tiles.ages.rows);
	showSexes(tiles.sexes.rows);
	tile("message").textContent = notices.map(notice => notice.split("\n")[0]).join("; ");
}

// The filters as the address of the tiles has them.
function address() {
	const query = new URLSearchParams();
	const wards = [...tile("ward").querySelectorAll("[aria-pressed=true]")].map(button => button.dataset.value);
	const sex = tile("sex").querySelector("[aria-pressed=true]");

	for (const name of ["from", "to"])
		if (tile(name).value)
			query.set(name, tile(name).value);
	if (wards.length > 0)
		query.set("ward", wards.join(","));
	if (sex)
		query.set("sex", sex.dataset.value);
	return "/tiles?" + query;
}

// The last answer counts: an earlier one may come later.
let asked = 0;
async function refresh() {
	const mine = ++asked;

	for (const button of tile("periods").children)
		button.setAttribute("aria-pressed", button.dataset.from === tile("from").value && button.dataset.to === tile("to").value);
	const reply = await fetch(address());
	const answer = reply.ok ? await reply.json() : await reply.text();

	if (mine !== asked)
		return;
	if (reply.ok)
		draw(answer);
	else
		tile("message").textContent = answer;
	document.body.dataset.shown = address();
}

tile("periods").addEventListener("click", event => {
	if (event.target.dataset.from === undefined)
		return;
	tile("from").value = event.target.dataset.from;
	tile("to").value = event.target.dataset.to;
	refresh();
});
for (const name of ["ward", "sex"])
	tile(name).addEventListener("click", event => {
		if (event.target.dataset.value === undefined)
			return;
		const pressed = event.target.getAttribute("aria-pressed") !== "true";

		// one sex or both; any wards
		if (name === "sex")
			for (const button of tile(name).children)
				button.setAttribute("aria-pressed", "false");
		event.target.setAttribute("aria-pressed", pressed);
		refresh();
	});
for (const name of ["from", "to"])
	tile(name).addEventListener("change", refresh);
refresh();
