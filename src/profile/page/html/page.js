"use strict";
// Shows the numbers of the element "report". Text of programs is only ever set as text.
(function () {
const data = JSON.parse(document.getElementById("report").textContent);
const page = document.getElementById("page");
const metricAt = new Map(data.metrics.map((m, i) => [m[0], i]));
const columnAt = new Map(data.columns.map((c, i) => [c[0], i]));
const WARP = 32;

// ---- elements ----

function make(tag, attributes, ...children) {
	const svg = ["svg", "rect", "text", "path", "g", "defs", "marker", "title"].includes(tag);
	const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag)
		: document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {}))
		if (name.startsWith("on"))
			e.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			e.setAttribute(name, value);
	e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined));
	return e;
}

function card(title, wide, ...children) {
	return make("section", {class: wide ? "card wide" : "card", "aria-label": title},
		make("h2", {}, title), ...children);
}

function shown(x) {
	if (x === null || x === undefined)
		return "n/a";
	x = Number(x);
	return Number.isInteger(x) ? x.toLocaleString("en-US")
		: x.toLocaleString("en-US", {maximumFractionDigits: 2, minimumFractionDigits: 2});
}

function bytes(x) {
	const units = ["B", "KB", "MB", "GB", "TB"];
	let u = 0;
	for (x = Number(x); x >= 1000 && u + 1 < units.length; u++)
		x /= 1000;
	return shown(u ? Math.round(x * 100) / 100 : x) + " " + units[u];
}

function metric(of, name) {
	const v = of.metrics ? of.metrics[metricAt.get(name)] : null;
	return v === null || v === undefined ? null : Number(v);
}

const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);
const box = (b) => "(" + b.join(", ") + ")";

// ---- the numbers of a line ----

function zeros() {
	return data.columns.map(() => 0);
}

function rowsOf(kernel, of) {
	const rows = kernel.insns.map(zeros);
	for (const [insn, ...at] of of.rows || [])
		at.forEach((x, k) => { rows[insn][k] += Number(x); });
	return rows;
}

function value(row, name) {
	return row[columnAt.get(name)] || 0;
}

const shownCounts = [
	["inst", "instructions of warps", (r) => value(r, "inst")],
	["threads_on", "instructions of threads", (r) => value(r, "threads_on")],
	["sectors", "sectors of global memory", (r) => value(r, "global_sectors")],
	["excess", "excess sectors", (r) => Math.max(0, value(r, "global_sectors") - value(r, "global_ideal"))],
	["passes", "wavefronts of shared memory", (r) => value(r, "shared_passes")],
	["conflicts", "excess wavefronts", (r) => Math.max(0, value(r, "shared_passes") - value(r, "shared_ideal"))],
	["divergent", "divergent branches", (r) => value(r, "divergent")],
	["l1_hit", "hits of the first cache", (r) => value(r, "l1_hit")],
	["l1_miss", "misses of the first cache", (r) => value(r, "l1_miss")],
	["l2_miss", "misses of the second cache", (r) => value(r, "l2_miss")],
	["dram", "sectors read from DRAM", (r) => value(r, "dram_sectors")],
];

function everything(row) {
	return data.columns.map((c, i) => row[i] ? c[1] + ": " + shown(row[i]) + "  (" + c[2] + ")" : null)
		.filter((x) => x).join("\n") || "never executed";
}

// Lanes that were active, and those whose guard was true, of 32.
function strip(row) {
	const inst = value(row, "inst");
	if (!inst)
		return make("span", {class: "strip"});
	const on = value(row, "threads_on") / inst / WARP, active = value(row, "threads") / inst / WARP;
	return make("span", {class: "strip", title: shown(active * WARP) + " lanes active, " + shown(on * WARP) +
		" of them predicated on"},
	make("i", {style: "width:" + on * 100 + "%"}),
	make("u", {style: "width:" + Math.max(0, active - on) * 100 + "%"}));
}

// ---- tables that sort ----

// columns: [title, function of an item, how it is shown, is a name]; picked: what a row does.
function table(columns, items, picked) {
	let by = -1, down = true;
	const body = make("tbody");
	const heads = columns.map((c, i) => make("th", {class: c[3] ? "name" : null, scope: "col"},
		make("button", {type: "button", onclick: () => sort(i)}, c[0])));
	const rows = items.map((item) => {
		const row = make("tr", picked ? {tabindex: "0", "aria-selected": "false", onclick: () => pick(row),
			onkeydown: (e) => key(e, row)} : {},
		columns.map((c) => make("td", {class: c[3] ? "name" : null, title: c[3] ? c[1](item) : null},
			c[2] ? c[2](c[1](item), item) : c[1](item))));
		row.item = item;
		return row;
	});
	function pick(row) {
		rows.forEach((r) => r.setAttribute("aria-selected", r === row ? "true" : "false"));
		picked(row.item);
	}
	function key(e, row) {
		const next = {ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling}[e.key];
		if (next)
			next.focus();
		else if (e.key === "Enter" || e.key === " ")
			pick(row);
		else
			return;
		e.preventDefault();
	}
	function sort(i) {
		down = by === i ? !down : !columns[i][3];
		by = i;
		const at = (r) => { const x = columns[i][1](r.item); return x === null ? -1 : x; };
		const order = (a, b) => typeof at(a) === "string" ? at(a).localeCompare(at(b)) : at(a) - at(b);
		rows.sort((a, b) => down ? order(b, a) : order(a, b));
		heads.forEach((h, k) => k === i ? h.setAttribute("aria-sort", down ? "descending" : "ascending")
			: h.removeAttribute("aria-sort"));
		body.append(...rows);
	}
	body.append(...rows);
	const all = make("table", {}, make("thead", {}, make("tr", {}, heads)), body);
	all.filter = (word) => rows.forEach((r) => {
		r.hidden = !columns.some((c) => c[3] && String(c[1](r.item)).toLowerCase().includes(word));
	});
	all.pick = (n) => rows[n] && pick(rows[n]);
	return all;
}

// ---- launches ----

function itemsOf(report, perKernel) {
	if (perKernel)
		return report.kernels.map((k) => ({kernel: k, of: k.sum, launches: k.launches}));
	return report.launches.map((l) => ({kernel: report.kernels[l.kernel], of: l, launch: l, launches: 1}));
}

function launchTable(report, perKernel, picked) {
	const number = (name) => [name, (i) => metric(i.of, name)];
	const columns = [
		[perKernel ? "launches" : "#", (i) => perKernel ? i.launches : i.launch.id, shown],
		["kernel", (i) => i.kernel.shown, null, true],
		["grid", (i) => i.of.grid.reduce((a, b) => a * b), (x, i) => box(i.of.grid)],
		["block", (i) => i.of.block.reduce((a, b) => a * b), (x, i) => box(i.of.block)],
		["instructions", number("smsp__inst_executed.sum")[1], shown],
		["sectors", number("memory_l2_theoretical_sectors_global")[1], shown],
		["excess", number("derived__memory_l2_theoretical_sectors_global_excessive")[1], shown],
		["conflicts", number("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")[1], shown],
		["L1 hit %", number("l1tex__t_sector_hit_rate.pct")[1], shown],
		["L2 hit %", number("ptx__lts_t_sector_srcunit_tex_hit_rate.pct")[1], shown],
		["DRAM", number("dram__bytes.sum")[1], (x) => x === null ? "n/a" : bytes(x)],
	];
	if (!perKernel)
		columns.push(["process", (i) => i.launch.process, String], ["device", (i) => i.launch.device, String],
			["stream", (i) => i.launch.stream, String]);
	return table(columns, itemsOf(report, perKernel), picked);
}

function launchCard(report, picked) {
	const place = make("div", {class: "scroll"});
	const filter = make("input", {type: "search", placeholder: "filter kernels", "aria-label": "filter kernels",
		oninput: () => place.firstChild.filter(filter.value.toLowerCase())});
	const sums = make("input", {type: "checkbox", id: "sums", onchange: fill});
	function fill() {
		place.replaceChildren(launchTable(report, sums.checked, picked));
		place.firstChild.filter(filter.value.toLowerCase());
		place.firstChild.pick(0);
	}
	sums.checked = report.launches.length > 1 && report.kernels.length < report.launches.length;
	const cut = report.launches.filter((l) => !l.metrics).length;
	const all = card("Launches", true, make("div", {class: "bar"}, filter,
		make("label", {for: "sums"}, sums, " sum per kernel"),
		make("span", {class: "dim"}, report.launches.length + " launches of " + report.kernels.length + " kernels" +
			(cut ? "; " + cut + " have their numbers in the sums alone, to keep this page small" : ""))), place);
	all.fill = fill;
	return all;
}

// ---- a kernel ----

function list(of, rows) {
	return make("dl", {}, rows.map(([label, name, how]) => [make("dt", {}, label),
		make("dd", {}, (how || shown)(name in of ? of[name] : metric(of, name)))]));
}

function bars(rows, limit) {
	const most = Math.max(1, ...rows.map((r) => r[1]));
	return rows.map(([label, x, note]) => make("div", {class: "hbar"}, make("b", {title: label}, label),
		make("span", {class: limit && x === limit ? "limit" : null},
			make("i", {style: "width:" + x / most * 100 + "%"})),
		make("span", {}, note || shown(x))));
}

function statistics(of) {
	const text = (b) => box(b);
	return card("Launch", false, list(of, [["grid", "grid", text], ["block", "block", text],
		["threads", "launch__thread_count"], ["waves per SM", "launch__waves_per_multiprocessor"],
		["registers per thread", "launch__registers_per_thread"],
		["static shared memory", "launch__shared_mem_per_block_static", bytes],
		["dynamic shared memory", "launch__shared_mem_per_block_dynamic", bytes],
		["instructions of warps", "smsp__inst_executed.sum"],
		["threads per instruction", "smsp__thread_inst_executed_per_inst_executed.ratio"],
		["operations per byte asked for", "ptx__flops_per_byte_l1.ratio"],
		["operations per byte of the second cache", "ptx__flops_per_byte_l2.ratio"],
		["operations per byte of DRAM", "ptx__flops_per_byte_dram.ratio"]]));
}

function occupancy(of) {
	const limits = [["blocks of an SM", "blocks"], ["registers", "registers"], ["shared memory", "shared_mem"],
		["warps", "warps"]].map(([label, n]) => [label, metric(of, "launch__occupancy_limit_" + n)]);
	const least = Math.min(...limits.map((l) => l[1]));
	return card("Occupancy", false,
		make("p", {}, shown(metric(of, "sm__maximum_warps_avg_per_active_cycle")) + " warps of an SM, " +
			shown(metric(of, "sm__maximum_warps_per_active_cycle_pct")) + " %; limited by " +
			limits.filter((l) => l[1] === least).map((l) => l[0]).join(" and ") + "."),
		make("p", {class: "dim"}, "Blocks of an SM that each resource has room for:"), bars(limits, least));
}

// The row of boxes from the kernel to DRAM; what comes of the model is dashed.
function memoryChart(of) {
	const m = (name) => metric(of, name), boxes = [], parts = [];
	const l1 = "l1tex__t_", pipe = "_pipe_lsu_mem_";
	const kinds = [["Global", "global_op_ld", "global_op_st"], ["Local", "local_op_ld", "local_op_st"]];
	const place = (x, y, w, h, title, lines, model) => boxes.push(make("g", {},
		make("rect", {x, y, width: w, height: h, rx: 6, class: model ? "model" : null}),
		make("text", {x: x + w / 2, y: y + 20, "text-anchor": "middle"}, title),
		lines.map((t, i) => make("text", {x: x + w / 2, y: y + 38 + i * 15, class: "small", "text-anchor": "middle"},
			t))));
	const arrow = (x1, x2, y, text, model) => parts.push(
		make("path", {d: "M" + x1 + " " + y + " L" + x2 + " " + y, class: model ? "model" : null,
			"marker-end": "url(#head)"}),
		make("text", {x: (x1 + x2) / 2, y: y - 5, class: "small", "text-anchor": "middle"}, text));
	place(8, 20, 90, 330, "Kernel", [shown(m("smsp__inst_executed.sum")), "instructions"]);
	kinds.forEach(([title, ld, st], i) => {
		const y = 20 + i * 112;
		place(250, y, 100, 100, title, []);
		[["loads", ld, 35, false], ["stores", st, 75, true]].forEach(([word, op, dy]) => {
			arrow(102, 246, y + dy, shown(m(l1 + "requests" + pipe + op + ".sum")) + " req. (" + word + ")");
			arrow(354, 486, y + dy, shown(m(l1 + "sectors" + pipe + op + ".sum")) + " sectors");
		});
	});
	place(250, 250, 100, 100, "Shared", ["conflicts", shown(m("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"))]);
	arrow(102, 246, 300, shown(m("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")) + " wavefronts");
	const l1Rate = m("l1tex__t_sector_hit_rate.pct"), l2Rate = m("ptx__lts_t_sector_srcunit_tex_hit_rate.pct");
	place(490, 20, 110, 212, "L1/TEX", ["hit rate", l1Rate === null ? "n/a" : shown(l1Rate) + " %"], true);
	place(750, 20, 110, 212, "L2", ["hit rate", l2Rate === null ? "n/a" : shown(l2Rate) + " %",
		shown(m("lts__t_requests_srcunit_tex.sum")) + " req."], true);
	place(1010, 20, 110, 212, "DRAM", [], true);
	arrow(746, 604, 100, shown(m("l1tex__m_xbar2l1tex_read_sectors.sum")) + " sectors read", true);
	arrow(604, 746, 180, shown(m("l1tex__m_l1tex2xbar_write_sectors.sum")) + " written", true);
	arrow(1006, 864, 100, shown(m("dram__sectors_read.sum")) + " sectors read", true);
	arrow(864, 1006, 180, shown(m("dram__sectors_write.sum")) + " written", true);
	return card("Memory", true, make("svg", {viewBox: "0 0 1130 360", role: "img", "aria-label": "memory chart"},
		make("defs", {}, make("marker", {id: "head", markerWidth: 8, markerHeight: 8, refX: 7, refY: 4,
			orient: "auto"}, make("path", {d: "M0 0 L8 4 L0 8 z"}))), parts, boxes),
	make("p", {class: "dim"}, "A sector has 32 bytes. Dashed: by the model of the caches."));
}

function findings(of, jump) {
	const all = of.findings || [];
	if (!all.length)
		return card("Findings", false, make("p", {}, "Nothing stands out."));
	return card("Findings", false, make("ul", {class: "findings"}, all.map(([type, rule, text]) => {
		const item = make("li", {}, make("b", {}, type + " "), make("span", {title: rule}));
		const at = item.lastChild;
		let rest = text;
		for (let m; (m = /([^\s,]+):(\d+)(?= \()/.exec(rest)); rest = rest.slice(m.index + m[0].length)) {
			const [file, line] = [m[1], Number(m[2])];
			at.append(rest.slice(0, m.index), make("a", {href: "#source", title: m[0],
				onclick: (e) => { e.preventDefault(); jump(file, line); }}, baseName(file) + ":" + line));
		}
		at.append(rest);
		return item;
	})));
}

function variables(of) {
	if (!of.variables || !of.variables.length)
		return [];
	const heads = ["variable", "bytes", "L1 sectors", "hits", "misses", "L2 sectors", "misses", "DRAM read"];
	return [card("Variables", true, make("div", {class: "scroll"}, make("table", {},
		make("thead", {}, make("tr", {}, heads.map((h) => make("th", {}, h)))),
		make("tbody", {}, of.variables.map((v) => make("tr", {},
			v.map((x, i) => make("td", {}, i ? shown(Number(x)) : x))))))))];
}

// A card with a row for each item: its name, then numbers.
function numberTable(title, heads, rows) {
	return [card(title, true, make("div", {class: "scroll"}, make("table", {},
		make("thead", {}, make("tr", {}, heads.map((h) => make("th", {}, h)))),
		make("tbody", {}, rows.map((v) => make("tr", {},
			v.map((x) => make("td", {}, typeof x === "string" ? x : shown(x)))))))))];
}

function sharedVariables(of) {
	if (!of.shared || !of.shared.length)
		return [];
	return numberTable("Shared variables", ["variable", "bytes", "requests", "wavefronts", "conflicts"],
		of.shared.map(([name, bytes, requests, passes, ideal]) =>
			[name, Number(bytes), Number(requests), Number(passes), Math.max(0, Number(passes) - Number(ideal))]));
}

const linkEnd = (end) => end < 0 ? "host" : "device " + end;

function links(of) {
	if (!of.links || !of.links.length)
		return [];
	return numberTable("Links", ["memory of", "link", "bytes read", "bytes written"],
		of.links.map(([end, kind, read, written]) => [linkEnd(end), kind, Number(read), Number(written)]));
}

function copies(report) {
	if (!report.copies || !report.copies.length)
		return [];
	return numberTable("Copies of the program", ["from", "to", "link", "copies", "bytes"],
		report.copies.map(([from, to, kind, n, bytes]) => [linkEnd(from), linkEnd(to), kind, Number(n), Number(bytes)]));
}

// What has moved of managed memory, and who has touched it.
function migrations(report) {
	const moved = report.migrations || [], who = report.residences || [];
	return [
		...moved.length ? numberTable("Managed memory that has moved", ["from", "to", "transfers", "bytes"],
			moved.map(([from, to, n, bytes]) => [linkEnd(from), linkEnd(to), Number(n), Number(bytes)])) : [],
		...who.length ? numberTable("Managed memory", ["of", "page faults", "bytes first", "bytes remote", "bytes thrashing"],
			who.map(([end, ...n]) => [linkEnd(end), ...n.map(Number)])) : []];
}

function opcodes(kernel, rows) {
	const sums = new Map();
	kernel.insns.forEach((insn, i) => {
		const name = insn[4].replace(/^@\S+\s+/, "").split(/[.;\s]/)[0];
		sums.set(name, (sums.get(name) || 0) + value(rows[i], "inst"));
	});
	const all = [...sums].filter((s) => s[1]).sort((a, b) => b[1] - a[1]);
	return card("Instructions by opcode", false, bars(all.slice(0, 14)),
		all.length > 14 ? make("p", {class: "dim"}, all.length - 14 + " more opcodes") : null);
}

// Instructions by how many lanes were active: of each warp, where the report has that, else by line.
function lanes(of, rows) {
	const at = new Array(WARP + 1).fill(0);
	const exact = of.values && Object.keys(of.values).some((k) => k.startsWith("lanes_"));
	if (exact)
		at.forEach((x, n) => { at[n] = Number(of.values["lanes_" + n] || 0); });
	else
		rows.forEach((r) => {
			if (value(r, "inst"))
				at[Math.round(value(r, "threads_on") / value(r, "inst"))] += value(r, "inst");
		});
	const most = Math.max(1, ...at);
	return card("Active lanes", false, make("div", {class: "columns"}, at.map((x, n) =>
		make("div", {title: shown(x) + " instructions with " + n + " lanes"},
			make("i", {style: "height:" + x / most * 88 + "%"}), make("small", {}, n % 4 ? "" : String(n))))),
	make("p", {class: "dim"}, exact ? "Instructions of warps by the number of lanes that execute them."
		: "Instructions of warps by the average number of lanes of their line."));
}

// ---- sources ----

function lineElement(no, text, row, count, most, picked, key) {
	const n = row ? count(row) : 0;
	const e = make("div", {class: "line" + (row ? " has" : "") + (row && !value(row, "inst") ? " never" : ""),
		title: row ? everything(row) : null, tabindex: row ? "0" : null, "data-key": key,
		onclick: row ? () => picked(e) : null,
		onkeydown: row ? (ev) => { if (ev.key === "Enter") picked(e); } : null},
	make("span", {class: "count"}, row ? n ? shown(n) : "." : ""),
	make("span", {class: "heat"}, n ? make("i", {style: "width:" + n / most * 100 + "%"}) : null),
	row ? strip(row) : make("span", {class: "strip"}), make("span", {class: "no"}, no),
	make("span", {class: "text"}, text));
	return e;
}

function code(label) {
	return make("div", {class: "code", tabindex: "0", "aria-label": label});
}

function pickLines(elements) {
	document.querySelectorAll(".line.picked").forEach((e) => e.classList.remove("picked"));
	elements.forEach((e) => e.classList.add("picked"));
}

function scrollTo(e) {
	if (e)
		e.parentNode.scrollTop = e.offsetTop - e.parentNode.offsetTop - e.parentNode.clientHeight / 3;
}

function linesOf(kernel, rows) {
	const files = new Map();
	kernel.insns.forEach((insn, i) => {
		const name = insn[2] < 0 ? null : kernel.files[insn[2]];
		if (name === null)
			return;
		if (!files.has(name))
			files.set(name, new Map());
		const lines = files.get(name);
		if (!lines.has(insn[3]))
			lines.set(insn[3], {row: zeros(), insns: []});
		const line = lines.get(insn[3]);
		rows[i].forEach((x, k) => { line.row[k] += x; });
		line.insns.push(i);
	});
	return files;
}

function fillCuda(to, report, files, count, picked) {
	for (const [file, lines] of files) {
		const most = Math.max(1, ...[...lines.values()].map((l) => count(l.row)));
		const source = report.sources[file] ? report.sources[file].split("\n") : null;
		const last = source ? source.length : Math.max(...lines.keys());
		to.append(make("div", {class: "file"}, file + (source ? "" : " (the source could not be read)")));
		for (let n = 1; n <= last; n++) {
			const line = lines.get(n);
			if (source || line)
				to.append(lineElement(n, source ? source[n - 1] : "", line ? line.row : null, count, most, picked,
					line ? line.insns.join(" ") : null));
			if (line)
				to.lastChild.place = file + ":" + n;
		}
	}
}

function sourceCard(report, kernel, rows) {
	const files = linesOf(kernel, rows);
	const select = make("select", {"aria-label": "what is counted", onchange: fill},
		shownCounts.filter((c) => rows.some((r) => c[2](r))).map((c) => make("option", {value: c[0]}, c[1])));
	const cuda = code("source"), ptx = code("PTX");
	const never = rows.filter((r) => !value(r, "inst")).length;
	function pickedCuda(e) {
		const insns = e.dataset.key.split(" ").map((i) => ptx.querySelector('[data-key="' + i + '"]'));
		pickLines([e, ...insns]);
		scrollTo(insns[0]);
	}
	function pickedPtx(e) {
		const other = [...cuda.querySelectorAll(".line.has")].find((c) =>
			c.dataset.key.split(" ").includes(e.dataset.key));
		pickLines(other ? [e, other] : [e]);
		scrollTo(other);
	}
	function fill() {
		const found = shownCounts.find((c) => c[0] === select.value) || shownCounts[0];
		const most = Math.max(1, ...rows.map(found[2]));
		cuda.replaceChildren();
		fillCuda(cuda, report, files, found[2], pickedCuda);
		ptx.replaceChildren(make("div", {class: "file"}, kernel.ptx), ...kernel.insns.map((insn, i) =>
			lineElement(insn[1], insn[4], rows[i], found[2], most, pickedPtx, String(i))));
	}
	fill();
	const all = card("Source", true, make("div", {class: "bar"}, make("label", {}, "count ", select),
		make("span", {class: "dim"}, never + " of " + rows.length + " instructions were never executed. Strips: lanes " +
			"of 32 that are active. Point at a line for all its numbers; click or press Enter for the other side.")),
	make("div", {class: files.size ? "sources" : "sources one"}, files.size ? cuda : null, ptx));
	all.id = "source";
	all.jump = (file, line) => {
		const e = [...cuda.querySelectorAll(".line.has")].find((c) => c.place === file + ":" + line) ||
			[...ptx.querySelectorAll(".line.has")].find((c) => kernel.insns[c.dataset.key][1] === line);
		if (!e)
			return;
		all.scrollIntoView();
		scrollTo(e);
		e.click();
	};
	return all;
}

// ---- all metrics ----

function metricsCard(of) {
	const items = data.metrics.map((m, i) => ({name: m[0], unit: m[1], kind: m[2], x: of.metrics[i]}))
		.filter((m) => m.x !== null && Number(m.x) !== 0);
	const all = table([["metric", (m) => m.name, null, true], ["unit", (m) => m.unit, null, true],
		["value", (m) => Number(m.x), shown], ["kind", (m) => m.kind, null, true]], items, null);
	const filter = make("input", {type: "search", placeholder: "filter metrics", "aria-label": "filter metrics",
		oninput: () => all.filter(filter.value.toLowerCase())});
	return card("Metrics", true, make("div", {class: "bar"}, filter,
		make("span", {class: "dim"}, "Those that are not 0.")), make("div", {class: "scroll"}, all));
}

// Cards of what some reports have alone.
function moreCards() {
	return [];
}

// ---- two reports ----

function compared(reports) {
	const names = [...new Set(reports.flatMap((r) => r.kernels.map((k) => k.shown)))];
	return names.map((name) => ({name, at: reports.map((r) => r.kernels.find((k) => k.shown === name) || null)}));
}

function changeColumns(what) {
	const change = (i) => i.a === null || i.b === null ? null : i.b - i.a;
	return [[what, (i) => i.name, null, true], ["A", (i) => i.a, shown], ["B", (i) => i.b, shown],
		["change", change, (x) => make("span", {class: x > 0 ? "up" : "down"}, (x > 0 ? "+" : "") + shown(x))],
		["%", (i) => i.a ? change(i) / i.a * 100 : null, (x) => x === null ? "-" : shown(x)]];
}

function changedMetrics(a, b) {
	return data.metrics.map((m, i) => ({name: m[0], a: a.sum.metrics[i], b: b.sum.metrics[i]}))
		.filter((m) => m.a !== null && m.b !== null && Number(m.a) !== Number(m.b))
		.map((m) => ({name: m.name, a: Number(m.a), b: Number(m.b)}));
}

function changedLines(a, b) {
	const sides = [a, b].map((k) => linesOf(k, rowsOf(k, k.sum)));
	const items = [];
	for (const file of new Set([...sides[0].keys(), ...sides[1].keys()]))
		for (const [label, , count] of shownCounts) {
			const lines = sides.map((s) => s.get(file) || new Map());
			for (const n of new Set([...lines[0].keys(), ...lines[1].keys()])) {
				const [x, y] = lines.map((l) => l.has(n) ? count(l.get(n).row) : 0);
				if (x !== y)
					items.push({name: baseName(file) + ":" + n + " " + label, a: x, b: y});
			}
		}
	return items;
}

function comparison() {
	page.append(make("h1", {}, "Comparison: " + data.reports.map((r) => r.name).join(" and ")));
	const details = make("div", {class: "cards"});
	const items = compared(data.reports).map((c) => ({name: c.name, at: c.at,
		a: c.at[0] ? c.at[0].launches : 0, b: c.at[1] ? c.at[1].launches : 0}));
	const kernels = table([["kernel", (i) => i.name, null, true], ["launches A", (i) => i.a, shown],
		["launches B", (i) => i.b, shown],
		["metrics that differ", (i) => i.at[0] && i.at[1] ? changedMetrics(i.at[0], i.at[1]).length : null, shown]],
	items, (i) => {
		details.replaceChildren();
		if (!i.at[0] || !i.at[1]) {
			details.append(card(i.name, true, make("p", {}, "Only in one of the reports.")));
			return;
		}
		details.append(
			card("Metrics of " + i.name, true, make("div", {class: "scroll"},
				table(changeColumns("metric"), changedMetrics(i.at[0], i.at[1]), null))),
			card("Lines", true, make("div", {class: "scroll"},
				table(changeColumns("line"), changedLines(i.at[0], i.at[1]), null))));
	});
	page.append(card("Kernels", true, make("div", {class: "scroll"}, kernels)), details);
	kernels.pick(0);
}

// ---- one report ----

function single(report) {
	const details = make("div", {class: "cards"});
	const first = report.launches[0];
	page.append(make("h1", {}, report.name), make("div", {class: "dim"}, (first ? first.device_name + " (emulated), " +
		"CC " + metric(report.kernels[0].sum, "device__attribute_compute_capability_major") + "." +
		metric(report.kernels[0].sum, "device__attribute_compute_capability_minor") + ". " : "") +
		"Counts are exact, of PTX instructions; hits, misses and DRAM are those of a model of the caches. No times."));
	const launches = launchCard(report, (item) => {
		const of = item.of.metrics ? item.of : item.kernel.sum;
		const rows = rowsOf(item.kernel, item.kernel.sum);
		const source = sourceCard(report, item.kernel, rows);
		details.replaceChildren(
			make("h2", {class: "wide"}, item.kernel.shown + (item.of.metrics ? "" : " (sum of its launches)")),
			statistics(of), occupancy(of), findings(of, source.jump), memoryChart(of),
			...variables(of), ...sharedVariables(of), ...links(of), opcodes(item.kernel, rows), lanes(item.kernel.sum, rows), ...moreCards(item, of), source,
			metricsCard(of));
	});
	page.append(make("div", {class: "cards"}, launches, ...copies(report), ...migrations(report)), details);
	if (report.launches.length)
		launches.fill();
}

page.replaceChildren();
document.title = data.reports.map((r) => r.name).join(" and ") + " - ptxloom profile";
if (data.reports.length > 1)
	comparison();
else
	single(data.reports[0]);
})();
