'use strict';
(() => {
  const get = (id) => document.getElementById(id);
  const data = JSON.parse(get('data').textContent);
  const steps = [...document.querySelectorAll('#body .step')];
  const lines = [...document.querySelectorAll('.steps tbody tr')];
  const pane = get('pane'), cursor = get('cursor'), scrub = get('scrub'), filter = get('filter');
  const height = 22, lanes = new Set();
  let at = 0, shown = steps.map(() => true);

  const make = (tag, text, name) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (name) e.className = name;
    return e;
  };
  const line = (...cells) => {
    const tr = make('tr');
    for (const c of cells) tr.append(make('td', c));
    return tr;
  };

  // rowsAt returns each row's attributes after a step; undefined for one that was never there.
  const rowsAt = (step) => {
    const rows = data.rows.map(() => undefined);
    for (const n of changing) {
      if (n > step) break;
      for (const c of data.changes[n]) rows[c.row] = c.gone ? null : c.attr || {};
    }
    return rows;
  };
  const changing = Object.keys(data.changes).map(Number).sort((a, b) => a - b);

  const stateOf = (node, step) => {
    const words = [];
    for (const [lane, from, until, crashed] of data.stops) {
      if (lane === node && from <= step && step < until) words.push(crashed ? '✕ crashed' : '‖ paused');
    }
    for (const n of Object.keys(data.clocks)) {
      if (data.lane[n] === node && n <= step) words.push('± ' + data.clocks[n]);
    }
    return words.join(', ') || 'runs';
  };
  const waitsFor = (node, step) => {
    for (const [lane, sent, effect, answer] of data.asks) {
      if (lane !== node) continue;
      if (sent >= 0 && sent <= step && step < effect) return 'its request, to take effect in step ' + number(effect);
      if (effect <= step && (answer < 0 || step < answer)) return answer < 0 ? 'an answer that never came' : 'the answer, in step ' + number(answer);
    }
    return '';
  };
  const number = (i) => lines[i].cells[0].textContent;

  const showState = () => {
    const before = rowsAt(at - 1), after = rowsAt(at), changed = new Set((data.changes[at] || []).map((c) => c.row));
    const body = make('tbody');
    data.rows.forEach((row, i) => {
      if (after[i] === undefined) return;
      const is = after[i] || {}, was = before[i] || {};
      const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort();
      let label = (changed.has(i) ? '● ' : '') + row.name;
      if (after[i] === null && !changed.has(i)) {
        body.append(line(label, '', 'no row'));
        return;
      }
      for (const name of names) {
        const gone = !(name in is), differs = changed.has(i) && is[name] !== was[name];
        const tr = line(label, (differs ? '● ' : '') + name, gone ? was[name] : differs && name in was ? is[name] + ' (was ' + was[name] + ')' : is[name]);
        if (differs) tr.classList.add('changed');
        if (gone) tr.classList.add('gone');
        body.append(tr);
        label = '';
      }
    });
    if (!body.children.length) body.append(line('', '', 'no row was written yet'));
    get('state').tBodies[0].replaceWith(body);
    const nodes = make('tbody');
    data.nodes.forEach((name, i) => nodes.append(line(name, stateOf(i, at), waitsFor(i, at))));
    get('nodes').tBodies[0].replaceWith(nodes);
  };

  const show = (step, scroll) => {
    lines[at].classList.remove('now');
    at = Math.max(0, Math.min(steps.length - 1, step));
    lines[at].classList.add('now');
    cursor.style.top = at * height + 'px';
    scrub.value = at;
    const cells = lines[at].cells;
    scrub.setAttribute('aria-valuetext', 'step ' + cells[0].textContent);
    get('where').textContent = 'Step ' + cells[0].textContent + ' of ' + lines.length + ', ' + cells[1].textContent + ', ' + cells[3].textContent;
    get('what').textContent = (at === data.at ? '✕ violated here. ' : '') + cells[2].textContent + ': ' + cells[4].querySelector('span').textContent;
    const more = get('more');
    more.replaceChildren();
    for (const i of cells[4].querySelectorAll('i')) more.append(make('li', i.textContent));
    showState();
    if (scroll === undefined) keep(); else pane.scrollTop = scroll;
  };
  const middle = (step) => Math.max(0, step * height + 46 - pane.clientHeight * 0.6);
  // keep scrolls as little as it needs for the cursor to be in view, below the heads.
  const keep = () => {
    const top = at * height, bottom = top + height + 46 + 8;
    if (top < pane.scrollTop) pane.scrollTop = top - height;
    else if (bottom > pane.scrollTop + pane.clientHeight) pane.scrollTop = bottom - pane.clientHeight + height;
  };

  const move = (by) => {
    let to = at + by;
    while (to > 0 && to < steps.length - 1 && !shown[to]) to += Math.sign(by);
    if (to >= 0 && to < steps.length) show(shown[to] ? to : at);
    else show(by < 0 ? shown.indexOf(true) : shown.lastIndexOf(true));
  };
  const sift = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = lines.map((tr, i) => {
      const own = steps[i].dataset.l.split(' ');
      const text = words.length ? tr.textContent.toLowerCase() : '';
      return (lanes.size === 0 || own.some((l) => lanes.has(l))) && words.every((w) => text.includes(w));
    });
    shown.forEach((is, i) => {
      steps[i].classList.toggle('off', !is);
      lines[i].classList.toggle('off', !is);
    });
  };

  const jump = {
    first: () => move(-Infinity), back: () => move(-1), next: () => move(1), last: () => move(Infinity),
    violation: () => show(data.at, middle(data.at)),
  };
  for (const [id, act] of Object.entries(jump)) if (get(id)) get(id).addEventListener('click', act);
  const keys = {
    ArrowUp: jump.back, ArrowLeft: jump.back, ArrowDown: jump.next, ArrowRight: jump.next, Home: jump.first, End: jump.last,
    PageUp: () => show(at - 10), PageDown: () => show(at + 10), '/': () => filter.focus(),
    v: () => { if (data.at >= 0) jump.violation(); },
  };
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target === filter || !Object.hasOwn(keys, e.key)) return;
    e.preventDefault();
    keys[e.key]();
  });
  scrub.max = steps.length - 1;
  scrub.addEventListener('input', () => show(Number(scrub.value)));
  filter.addEventListener('input', sift);
  get('body').addEventListener('click', (e) => {
    show(Math.floor((e.clientY - get('body').getBoundingClientRect().top) / height));
  });
  for (const head of document.querySelectorAll('.heads .head')) {
    head.addEventListener('click', () => {
      const lane = head.dataset.l;
      if (!lane) return;
      if (!lanes.delete(lane)) lanes.add(lane);
      head.classList.toggle('on', lanes.has(lane));
      sift();
    });
  }
  for (const button of document.querySelectorAll('.go')) {
    button.addEventListener('click', () => {
      const step = lines.findIndex((tr) => tr.cells[0].textContent === button.dataset.n);
      if (step >= 0) show(step, middle(step));
    });
  }
  for (const button of document.querySelectorAll('.copy')) {
    button.addEventListener('click', () => {
      const code = button.parentElement.querySelector('code');
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand('copy');
      button.textContent = 'copied';
    });
  }
  const start = data.at >= 0 ? data.at : steps.length - 1;
  show(start, middle(start));
  document.documentElement.dataset.ready = 'yes';
})();
