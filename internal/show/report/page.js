'use strict';
(() => {
  const get = (id) => document.getElementById(id);
  const data = JSON.parse(get('data').textContent);
  const steps = [...document.querySelectorAll('#body .step')];
  const lines = [...document.querySelectorAll('.steps tbody tr')];
  const pane = get('pane'), cursor = get('cursor'), scrub = get('scrub');
  const filter = get('filter'), actor = get('actor'), operation = get('operation');
  const height = 22, lanes = new Set();
  let at = 0, shown = steps.map(() => true), across = false; // whether time runs across the page, or down it

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

  // rowsAt returns each row's attributes after a step; undefined for a row that was never there.
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
      if (effect <= step && (answer < 0 || step < answer)) {
        return answer < 0 ? 'an answer that never came' : 'the answer, in step ' + number(answer);
      }
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
        const now = differs && name in was ? is[name] + ' (was ' + was[name] + ')' : is[name];
        const tr = line(label, (differs ? '● ' : '') + name, gone ? was[name] : now);
        if (differs) tr.classList.add('changed');
        if (gone) tr.classList.add('gone');
        body.append(tr);
        label = '';
      }
    });
    if (!body.children.length) body.append(line('', '', 'no row was written yet'));
    get('state').tBodies[0].replaceWith(body);
    const call = data.calls[at], asked = make('tbody');
    get('call').hidden = !call;
    if (call) {
      const [[operation], request, answer] = call, word = (i) => data.words[i];
      get('call').caption.textContent = word(operation);
      for (let i = 0; i < request.length; i += 2) asked.append(line(word(request[i]), word(request[i + 1])));
      for (let i = 0; i < answer.length; i += 2) asked.append(line('→ ' + word(answer[i]), word(answer[i + 1])));
    }
    get('call').tBodies[0].replaceWith(asked);
    const nodes = make('tbody');
    data.nodes.forEach((name, i) => nodes.append(line(name, stateOf(i, at), waitsFor(i, at))));
    get('nodes').tBodies[0].replaceWith(nodes);
  };

  const show = (step, scroll) => {
    lines[at].classList.remove('now');
    at = Math.max(0, Math.min(steps.length - 1, step));
    lines[at].classList.add('now');
    cursor.style.top = across ? '' : at * height + 'px';
    cursor.style.left = across ? at * height + 'px' : '';
    scrub.value = at;
    const [n, time, who, kind, event] = lines[at].cells;
    scrub.setAttribute('aria-valuetext', 'step ' + n.textContent);
    get('where').textContent =
      'Step ' + n.textContent + ' of ' + lines.length + ', ' + time.textContent + ', ' + kind.textContent;
    get('what').textContent = (at === data.at ? '✕ violated here. ' : at === data.begins ? 'It began here. ' : '') +
      who.textContent + ': ' + event.querySelector('span').textContent;
    const more = get('more');
    more.replaceChildren();
    for (const i of event.querySelectorAll('i')) more.append(make('li', i.textContent));
    showState();
    if (scroll === undefined) keep(); else pane[across ? 'scrollLeft' : 'scrollTop'] = scroll;
  };
  const seen = () => across ? pane.clientWidth : pane.clientHeight;
  const size = (name) => Number(pane.dataset[name]);
  const heads = () => size(across ? 'across' : 'head'); // what hides a part of the pane
  const middle = (step) => Math.max(0, step * height + heads() - seen() * 0.6);
  // keep scrolls only as far as it must to bring the cursor into view; the heads must not cover it.
  const keep = () => {
    const way = across ? 'scrollLeft' : 'scrollTop', from = at * height, to = from + height + heads() + 8;
    if (from < pane[way]) pane[way] = from - height;
    else if (to > pane[way] + seen()) pane[way] = to - seen() + height;
  };

  // turned exchanges x and y in a path or a shape.
  const turned = (d) => d.replace(/([ML])(\S+) (\d+)|([VH])(\d+)/g,
    (_, op, x, y, line, to) => op ? op + y + ' ' + x : (line === 'V' ? 'H' : 'V') + to);
  const swap = (e, one, other) => {
    const was = e.getAttribute(one);
    e.setAttribute(one, e.getAttribute(other));
    e.setAttribute(other, was);
  };
  // place moves a text, and turns it if turn is true.
  const place = (e, x, y, turn) => {
    e.setAttribute('x', x);
    e.setAttribute('y', y);
    if (turn) e.setAttribute('transform', 'rotate(-90 ' + x + ' ' + y + ')');
    else e.removeAttribute('transform');
  };
  const turnPicture = () => {
    for (const svg of document.querySelectorAll('#pane .chunk svg, #pane .heads')) {
      const graph = size('graph'), isHeads = svg.classList.contains('heads');
      svg.dataset.width ??= svg.getAttribute('width');
      svg.dataset.height ??= svg.getAttribute('height');
      const { width: wide, height: tall } = svg.dataset;
      const [width, high] = across ? [isHeads ? size('across') : tall, graph] : [wide, tall];
      svg.setAttribute('width', width);
      svg.setAttribute('height', high);
      if (!isHeads) svg.setAttribute('viewBox', '0 0 ' + width + ' ' + high);
      for (const e of svg.querySelectorAll('path')) e.setAttribute('d', turned(e.getAttribute('d')));
      for (const e of svg.querySelectorAll('rect')) {
        swap(e, 'x', 'y');
        swap(e, 'width', 'height');
      }
      for (const e of svg.querySelectorAll('text')) {
        e.dataset.x ??= e.getAttribute('x');
        e.dataset.y ??= e.getAttribute('y');
        const x = Number(e.dataset.x), y = Number(e.dataset.y);
        if (e.classList.contains('label')) {
          e.dataset.was ??= e.getAttribute('transform');
          const [, left, top] = /translate\((\S+) (\S+)\)/.exec(e.dataset.was);
          const turn = e.classList.contains('wide') ? ' rotate(-90)' : ' translate(14 4)';
          e.setAttribute('transform', across ? 'translate(' + top + ' ' + left + ')' + turn : e.dataset.was);
        } else if (isHeads) {
          const all = [...e.parentElement.children], own = all.indexOf(e);
          if (across) place(e, size('across') / 2, x + 14 * (own - (all.length - 1) / 2) + 4); else place(e, x, y);
        } else if (e.classList.contains('g')) {
          if (across) place(e, y - 5, x + 5); else place(e, x, y);
        } else if (!e.classList.contains('w')) {
          if (across) place(e, y, e.classList.contains('n') ? size('numbers') : size('gutter') - 4, true);
          else place(e, x, y);
        }
      }
    }
  };
  get('turn').addEventListener('click', () => {
    across = !across;
    pane.classList.toggle('across', across);
    get('turn').setAttribute('aria-pressed', across);
    turnPicture();
    pane.scrollTo(0, 0);
    show(at, middle(at));
  });

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
      return (lanes.size === 0 || own.some((l) => lanes.has(l))) && words.every((w) => text.includes(w)) &&
        (!actor.value || own.includes(actor.value)) && (!operation.value || steps[i].dataset.o === operation.value);
    });
    const left = shown.filter(Boolean).length;
    get('sifted').textContent = left === steps.length ? '' : left + ' of ' + steps.length + ' steps';
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
    ArrowUp: jump.back, ArrowLeft: jump.back, ArrowDown: jump.next, ArrowRight: jump.next,
    Home: jump.first, End: jump.last,
    PageUp: () => show(at - 10), PageDown: () => show(at + 10), '/': () => filter.focus(),
    v: () => { if (data.at >= 0) jump.violation(); },
  };
  document.addEventListener('keydown', (e) => {
    const writes = e.target === filter || e.target.tagName === 'SELECT';
    if (e.ctrlKey || e.metaKey || e.altKey || writes || !Object.hasOwn(keys, e.key)) return;
    e.preventDefault();
    keys[e.key]();
  });
  scrub.max = steps.length - 1;
  scrub.addEventListener('input', () => show(Number(scrub.value)));
  for (const e of [filter, actor, operation]) e.addEventListener('input', sift);
  get('body').addEventListener('click', (e) => {
    const box = get('body').getBoundingClientRect();
    show(Math.floor((across ? e.clientX - box.left : e.clientY - box.top) / height));
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
  const start = data.begins >= 0 ? data.begins : steps.length - 1;
  show(start, middle(start));
  document.documentElement.dataset.ready = 'yes';
})();
