'use strict';
(() => {
  const pairs = JSON.parse(document.getElementById('pairs').textContent);
  const frames = [...document.querySelectorAll('iframe')];
  const other = [new Map(pairs), new Map(pairs.map(([a, b]) => [b, a]))];
  const linked = document.getElementById('linked'), where = document.getElementById('linkedto');
  const at = [undefined, undefined]; // the step of each run
  // Each inner page sends its step in a message, because browsers do not let one file look into another.
  addEventListener('message', (e) => {
    const i = frames.findIndex((f) => f.contentWindow === e.source);
    if (i < 0 || !Number.isInteger(e.data?.step) || at[i] === e.data.step) return;
    const first = at[i] === undefined;
    at[i] = e.data.step;
    const there = other[i].get(at[i]);
    where.textContent = there === undefined ? 'This step is in one run alone.' : 'This step is in both runs.';
    if (first) {
      if (!at.includes(undefined)) document.documentElement.dataset.ready = 'yes';
    } else if (linked.checked && there !== undefined && at[1 - i] !== there) {
      at[1 - i] = there;
      frames[1 - i].contentWindow.postMessage({ show: there }, '*');
    }
  });
  // Keys work at once: a key that is pressed while neither run has the focus goes to the first run, which then gets the
  // focus.
  const keys = ['ArrowUp', 'ArrowLeft', 'ArrowDown', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown', '/', 'v'];
  addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !keys.includes(e.key)) return;
    e.preventDefault();
    frames[0].focus();
    frames[0].contentWindow.postMessage({ key: e.key }, '*');
  });
  const ask = (frame) => frame.contentWindow.postMessage({ show: null }, '*');
  for (const frame of frames) {
    frame.addEventListener('load', () => ask(frame));
    ask(frame);
  }
})();
