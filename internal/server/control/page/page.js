'use strict';
// All text that comes from a client is set as textContent, never as HTML.
const base = location.pathname.replace(/\/+$/, '');
const $ = id => document.getElementById(id);
const kept = 200; // changes that are shown
const shown = { last: 0, rows: '', tables: '', findings: '', seen: 0 };

function make(name, text, cls) {
	const e = document.createElement(name);
	if (text !== undefined) e.textContent = text;
	if (cls) e.className = cls;
	return e;
}

class Refused extends Error {
	constructor(status, answer) {
		const { error, found, expected, hint } = answer;
		super([error, found && 'found ' + found, expected && 'expected ' + expected, hint].filter(Boolean).join('; '));
		this.status = status;
	}
}

async function ask(path, body, method) {
	const options = { method: method ?? (body === undefined ? 'GET' : 'POST'), cache: 'no-store' };
	if (body !== undefined) {
		options.headers = { 'Content-Type': 'application/json' };
		options.body = JSON.stringify(body);
	}
	const reply = await fetch(base + path, options);
	const answer = await reply.json();
	if (!reply.ok) throw new Refused(reply.status, answer);
	return answer;
}

// act asks for a change and shows what came of it.
async function act(path, body, method) {
	$('refused').hidden = true;
	try {
		await ask(path, body, method);
	} catch (e) {
		$('refused').textContent = e.message;
		$('refused').hidden = false;
		return false;
	}
	await look();
	return true;
}

// A value of DynamoDB JSON, as short as it can be read.
function plain(value) {
	const [[kind, v]] = Object.entries(value);
	switch (kind) {
	case 'S': return JSON.stringify(v);
	case 'N': return v;
	case 'BOOL': return String(v);
	case 'NULL': return 'null';
	case 'B': return 'bytes ' + v;
	case 'M': return '{' + Object.entries(v).map(([name, e]) => name + ': ' + plain(e)).join(', ') + '}';
	case 'L': return '[' + v.map(plain).join(', ') + ']';
	default: return kind + ' ' + JSON.stringify(v);
	}
}

const short = text => text.length > 300 ? text.slice(0, 300) + '…' : text;

// named makes an element with a name, such as a partition key with a hash in it. The whole of a long one is its title.
function named(tag, text, cls) {
	const e = make(tag, text.length > 40 ? text.slice(0, 24) + '…' + text.slice(-9) : text, cls);
	if (text.length > 40) e.title = text;
	return e;
}
const clock = time => time.replace('T', ' ').replace(/(\.\d{3})\d*Z$/, '$1Z').replace(/Z$/, '');

function span(ms) {
	const s = Math.abs(ms) / 1000;
	if (s < 60) return Math.round(s * 10) / 10 + ' s';
	if (s < 3600) return Math.floor(s / 60) + ' min ' + Math.round(s % 60) + ' s';
	if (s < 86400) return Math.floor(s / 3600) + ' h ' + Math.round(s % 3600 / 60) + ' min';
	return Math.floor(s / 86400) + ' d ' + Math.round(s % 86400 / 3600) + ' h';
}

// What TTL has in store for a row.
function fate(row, now, lag) {
	if (!row.due) return [row.ttl in row.item ? '○ its ttl does not count' : '○ no ttl', 'note'];
	const left = Date.parse(row.due) + 1000 - now; // expired from the second after it
	const end = row.deletion ? 'deleted in ' + span(Date.parse(row.deletion) - now)
		: lag === 'never' ? 'never deleted' : 'deleted by a sweep';
	return left > 0 ? ['● expires in ' + span(left) + ', ' + end, '']
		: ['◐ expired ' + span(left) + ' ago, ' + end, 'expired'];
}

function differences(key, before, after) {
	const out = [];
	if (!before) out.push(['', 'created']);
	if (!after) return [['minus', 'deleted']];
	for (const name of [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])].sort()) {
		if (name in key) continue;
		const was = before?.[name], is = after[name];
		if (was && !is) out.push(['minus', name + ' ' + short(plain(was))]);
		else if (!was && is) out.push(['', name + ' = ' + short(plain(is))]);
		else if (JSON.stringify(was) !== JSON.stringify(is)) {
			out.push(['', name + ': ' + short(plain(was)) + ' → ' + short(plain(is))]);
		}
	}
	return out.length ? out : [['note', 'the same again']];
}

function changeLine(c) {
	const tr = make('tr', undefined, c.cause === 'ttl' ? 'ttl' : '');
	tr.append(make('td', c.seq), make('td', clock(c.time), 'when'),
		named('td', c.cause === 'ttl' ? 'TTL' : c.actor || '(no name)', 'by'));
	const row = make('td', undefined, 'value');
	row.append(make('div', c.table, 'note'), ...Object.values(c.key).map(v => named('div', plain(v))));
	tr.append(row);
	const td = make('td', undefined, 'change');
	for (const [cls, text] of differences(c.key, c.before, c.after)) td.append(make('div', text, cls));
	tr.append(td);
	return tr;
}

function showChanges(log) {
	const body = $('changes').tBodies[0];
	if (log.last < shown.last) body.replaceChildren(); // a restore has cut the log
	for (const tr of body.querySelectorAll('.fresh')) tr.classList.remove('fresh');
	for (const c of log.changes) {
		const tr = changeLine(c);
		if (shown.last) tr.classList.add('fresh');
		body.prepend(tr);
	}
	while (body.rows.length > kept) body.lastElementChild.remove();
	shown.last = log.last;
}

function showFindings(v) {
	const box = $('judged');
	if (!v) {
		$('verdict').textContent = 'The traffic is not judged: start isr-sim serve with --check.';
		return;
	}
	const ok = v.verdict === 'ok';
	box.className = v.violations ? 'violated' : ok && !v.unjudged.length ? 'ok' : '';
	const of = v.judged + ' of ' + v.changes + ' changes judged, ' + v.events + ' events posted' +
		(v.doubts ? '; ' + v.doubts + ' could not be' : '');
	$('verdict').textContent = v.violations ? '✗ ' + v.violations + ' found; ' + of
		: ok ? '✓ none found so far; ' + of
		: (v.judged ? 'Too little was judged yet; ' : 'Nothing was judged yet; ') + of;
	document.title = (v.violations ? '✗ ' + v.violations + ' · ' : '') + 'isr-sim serve';
	// What is open stays open. The list has no more than it had unless there are more findings.
	const state = JSON.stringify(v.found);
	if (state !== shown.findings) {
		shown.findings = state;
		$('findings').replaceChildren(...v.found.map(finding));
	}
	const not = [...v.untold, ...v.unjudged.map(t => 'nothing in ' + t)];
	$('not').hidden = !not.length;
	$('not').firstElementChild.textContent = not.length + ' not judged';
	$('unjudged').replaceChildren(...not.map(text => make('li', text)));
}

function finding(f, at) {
	const box = make('details', undefined, 'finding');
	box.open = at === 0;
	box.append(make('summary', f.verdict + ': ' + f.invariant + (f.actor ? ' by ' + f.actor : '')),
		make('p', f.why), make('p', f.statement, 'note'));
	if (f.changes.length) {
		const wide = make('div', undefined, 'wide'), table = make('table');
		wide.tabIndex = 0;
		table.createTBody().append(...f.changes.map(changeLine));
		wide.append(table);
		box.append(wide);
	}
	for (const e of f.events) {
		const what = e.actor + ' ' + e.kind + ' ' + (e.key ?? '') + ' ' + (e.body ?? '');
		box.append(make('p', clock(e.time) + ' ' + what));
	}
	return box;
}

function button(text, action) {
	const b = make('button', text);
	b.type = 'button';
	b.addEventListener('click', action);
	return b;
}

function showHeld(h) {
	$('holds').hidden = !h || !h.held.length;
	$('held').replaceChildren(...(h?.held ?? []).map(r => {
		const rows = r.rows.map(row => row.table + ' ' + Object.values(row.key ?? {}).map(plain).join(' '));
		const li = make('li', r.actor + ' ' + r.operation + ' ' + rows.join(', ') + ' ');
		li.append(button('Let go', () => act('/release', { ids: [r.id] })), ' ',
			button('Lose the request', () => act('/drop', { ids: [r.id], lose: 'request' })), ' ',
			button('Lose the answer', () => act('/drop', { ids: [r.id], lose: 'response' })));
		return li;
	}));
}

function showTables(tables) {
	const select = $('chosen').elements.table;
	const text = JSON.stringify(tables.map(t => t.address));
	if (text !== shown.tables) {
		const was = select.value;
		select.replaceChildren(...tables.map(t => {
			const option = make('option', t.name + (t.address === t.name ? '' : ' (' + t.region + ')'));
			option.value = t.address;
			return option;
		}));
		if (tables.some(t => t.address === was)) select.value = was;
		shown.tables = text;
	}
	return tables.find(t => t.address === select.value);
}

function showRows(table, page, now, lag) {
	const table_ = $('rows');
	if (!table) {
		$('count').textContent = 'There is no table yet.';
		table_.tHead.replaceChildren();
		table_.tBodies[0].replaceChildren();
		return;
	}
	$('count').textContent = page.rows.length + ' of ' + table.rows + ' rows' +
		(page.found > page.rows.length ? '; ' + page.found + ' have the text' : '') +
		(table.ttl ? '. TTL attribute: ' + table.ttl : '. TTL is off');
	const head = make('tr');
	for (const name of [...table.keys, 'fate', 'other attributes']) {
		const th = make('th', name);
		th.scope = 'col';
		head.append(th);
	}
	table_.tHead.replaceChildren(head);
	table_.tBodies[0].replaceChildren(...page.rows.map(row => {
		const tr = make('tr');
		for (const name of table.keys) tr.append(named('td', plain(row.item[name]), 'value'));
		const [text, cls] = fate({ ...row, ttl: table.ttl }, now, lag);
		tr.append(make('td', text, 'fate ' + cls));
		const td = make('td', undefined, 'value');
		for (const name of Object.keys(row.item).sort()) {
			if (!table.keys.includes(name)) td.append(make('div', name + ' = ' + short(plain(row.item[name]))));
		}
		tr.append(td);
		return tr;
	}));
}

const unless = e => { if (e instanceof Refused && e.status === 409) return null; throw e; };

// fill shows a setting, unless it is being edited.
function fill(form, value) {
	const input = form.elements.lag;
	const untouched = input.value === input.dataset.was || !input.dataset.was;
	if (document.activeElement !== input && untouched) input.value = value;
	input.dataset.was = value;
}

let looking = null, again = false;
// look reads the state of the server and shows it. A second call while one is under way makes it look once more.
function look() {
	again = true;
	looking ??= (async () => {
		try {
			while (again) {
				again = false;
				await lookOnce();
			}
			$('reached').textContent = 'connected';
			$('reached').className = '';
		} catch (e) {
			$('reached').textContent = e instanceof TypeError ? 'the server does not answer' : e.message;
			$('reached').className = 'lost';
		} finally {
			looking = null;
		}
	})();
	return looking;
}

async function lookOnce() {
	const [time, lag, replica, log, found, faults, held, snapshots, tables] = await Promise.all([
		ask('/clock').catch(unless), ask('/ttl-lag'), ask('/replica-lag'),
		ask('/changes?since=' + shown.last + '&latest=' + kept), ask('/violations').catch(unless), ask('/faults'),
		ask('/held').catch(unless), ask('/snapshot'), ask('/tables'),
	]);
	if (time) {
		$('now').textContent = clock(time.now);
		$('mode').textContent = time.mode === 'manual' ? 'stands still until it is moved' : 'follows real time';
	}
	fill($('lag'), lag.ttlLag);
	fill($('replica'), replica.replicaLag);
	const before = shown.last;
	if (log.last < shown.last) {
		shown.last = 0;
		$('changes').tBodies[0].replaceChildren();
		showChanges(await ask('/changes?since=0&latest=' + kept));
	} else {
		showChanges(log);
	}
	showFindings(found);
	$('faults').replaceChildren(...faults.faults.map(f => make('li', f)));
	showHeld(held);
	$('snapshots').replaceChildren(...snapshots.snapshots.map(name => {
		const li = make('li', name + ' ');
		li.append(button('Go back to it', () => act('/restore', { name })));
		return li;
	}));
	const table = showTables(tables.tables);
	const contains = $('chosen').elements.contains.value;
	const page = table &&
		await ask('/rows?table=' + encodeURIComponent(table.address) + '&contains=' + encodeURIComponent(contains));
	const state = JSON.stringify([table, page, time?.now, lag.ttlLag]);
	if (state !== shown.rows || before !== shown.last) showRows(table, page, Date.parse(time?.now), lag.ttlLag);
	shown.rows = state;
	document.documentElement.dataset.looks = ++shown.seen;
}

function submit(id, path, body) {
	const form = $(id);
	form.addEventListener('submit', async event => {
		event.preventDefault();
		if (!await act(path, body(form.elements))) return;
		for (const e of form.querySelectorAll('input')) if (!('was' in e.dataset)) e.value = '';
	});
}

$('address').textContent = 'endpoint ' + location.origin;
for (const b of $('steps').querySelectorAll('button')) {
	b.addEventListener('click', () => act('/clock', { advance: b.dataset.advance }));
}
submit('advance', '/clock', e => ({ advance: e.by.value.trim() }));
submit('lag', '/ttl-lag', e => ({ ttlLag: e.lag.value }));
submit('replica', '/replica-lag', e => ({ replicaLag: e.lag.value }));
submit('fault', '/faults', e => ({ faults: [e.fault.value] }));
submit('keep', '/snapshot', e => ({ name: e.name.value }));
$('sweep').addEventListener('click', () => act('/sweep', {}));
$('no-faults').addEventListener('click', () => act('/faults', undefined, 'DELETE'));
$('chosen').addEventListener('input', look);
$('chosen').addEventListener('submit', event => event.preventDefault());

// The page looks once a second while somebody sees it.
async function follow() {
	if (!document.hidden) await look();
	setTimeout(follow, 1000);
}
document.addEventListener('visibilitychange', () => { if (!document.hidden) look(); });
follow();
