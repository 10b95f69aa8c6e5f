'use strict';
(() => {
  // What zeta report --json writes, with more members for plots. Whoever made a recording chose its
  // names: of control characters nothing is left.
  const data = JSON.parse(document.getElementById('data').textContent, (key, value) =>
    typeof value === 'string' ? value.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '?') : value);
  const page = document.getElementById('page');
  const from = data.recording.from_ns || 0;
  const whole = [from, from + Math.max(data.elapsed_ns, 1)];
  let view = whole.slice();
  let cursor = null;

  // ---- texts -------------------------------------------------------------------------------

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
      else if (value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };

  const time = (ns, step) => {
    const size = Math.abs(step || ns);
    const [unit, scale] = size >= 1e9 || ns === 0 && !step ? ['s', 1e9] : size >= 1e6 ? ['ms', 1e6]
      : size >= 1e3 ? ['µs', 1e3] : ['ns', 1];
    return (ns / scale).toLocaleString('en', { maximumFractionDigits: 3 }) + ' ' + unit;
  };

  // A place on the time axis, as exact as its neighbours are far away.
  const place = (ns, step) => {
    const digits = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(step, 1)))));
    return (ns / 1e9).toFixed(digits) + ' s';
  };

  const number = (value) => {
    if (value === null || value === undefined) return 'n/a';
    const size = Math.abs(value);
    if (Number.isInteger(value) && size < 1e15) return value.toLocaleString('en');
    if (size !== 0 && (size >= 1e15 || size < 1e-3)) return value.toExponential(3);
    return value.toLocaleString('en', { maximumSignificantDigits: 6 });
  };

  const short = (value) => {
    const size = Math.abs(value);
    for (const [letter, scale] of [['P', 1e15], ['T', 1e12], ['G', 1e9], ['M', 1e6], ['k', 1e3]])
      if (size >= scale) return (value / scale).toPrecision(3).replace(/\.?0+$/, '') + letter;
    return size !== 0 && size < 1e-3 ? value.toExponential(1) : String(+value.toPrecision(3));
  };

  const card = (title, ...children) => {
    const section = make('section', { class: 'card' }, make('h2', {}, title), ...children);
    page.append(section);
    return section;
  };

  // ---- tables ------------------------------------------------------------------------------

  // columns: {title, text, show, key}; rows: arrays. Long ones are shown in parts.
  const table = (columns, rows, sorted, descending) => {
    const first = 50;
    let shown = first;
    let column = sorted;
    let down = descending;
    const body = make('tbody');
    const more = make('button', { class: 'more', onclick: () => { shown = Infinity; fill(); } });
    const heads = columns.map((c, i) => make('th', { scope: 'col', class: c.text ? 'text' : '' },
      make('button', {
        onclick: () => { down = column === i ? !down : !c.text; column = i; fill(); },
      }, c.title)));
    const compare = (a, b) => {
      const x = a[column], y = b[column];
      if (x === null || y === null) return (x === null) - (y === null);
      return (typeof x === 'string' ? x.localeCompare(y) : x - y) * (down ? -1 : 1);
    };
    const fill = () => {
      if (column !== undefined) rows.sort(compare);
      heads.forEach((head, i) => head.setAttribute('aria-sort',
        i !== column ? 'none' : down ? 'descending' : 'ascending'));
      body.replaceChildren(...rows.slice(0, shown).map((row) => make('tr', {},
        ...columns.map((c, i) => make('td', { class: c.text ? 'text' : '', title: c.hint && c.hint(row) },
          c.show ? c.show(row[i], row) : String(row[i]))))));
      more.textContent = `Show all ${rows.length}`;
      more.hidden = rows.length <= shown;
    };
    fill();
    return make('div', {}, make('div', { class: 'scroll' },
      make('table', {}, make('thead', {}, make('tr', {}, ...heads)), body)), more);
  };

  // described: the same metrics, with their kinds and descriptions.
  const metricTable = (metrics, described) => table([
    { title: 'Metric', text: true, hint: (row) => row[6] },
    { title: 'Value', show: number }, { title: '', text: true },
    { title: 'Min', show: number }, { title: 'Max', show: number }, { title: 'Unit', text: true },
  ], metrics.map((m, i) => [m.name, m.value, described[i].kind, m.min, m.max, m.unit, described[i].description]));

  const groupLine = (g) => `${number(g.samples)} samples` +
    (g.period_ns ? `, every ${time(g.period_ns)}` : '') + `, ${g.losses}`;

  // ---- summary -----------------------------------------------------------------------------

  const summary = () => {
    const program = (data.program || []).join(' ');
    const name = program.replace(/^\S*\//, '') || 'Recording';
    const { begin, end, host, file_bytes: bytes, cut } = data.recording;
    document.title = name + ' — Zeta report';
    const list = make('dl', { class: 'facts' });
    for (const [label, value] of [['Program', program], ['Begin', begin], ['End', end], ['Host', host],
      ...data.devices.map((d) => ['Device', `${d.name} (${d.class}, ${d.id})`]),
      ['Length', data.elapsed_ns && time(data.elapsed_ns)], ['File', `${data.path}, ${bytes} bytes${cut ? ', cut' : ''}`]])
      if (value) list.append(make('dt', {}, label), make('dd', {}, value));
    page.append(make('header', { class: 'card' }, make('h1', {}, name), list,
      ...data.recording.notes.map((note) => make('p', { class: 'note' }, note))));
  };

  // ---- plots -------------------------------------------------------------------------------

  const left = 52, right = 8;
  const tip = make('div', { id: 'tip' });
  const plots = [];
  let pending = false;
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const redraw = () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; plots.forEach((plot) => plot.draw()); });
  };

  const prepare = (canvas, height) => {
    const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    canvas.style.height = height + 'px';
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = '11px system-ui, sans-serif';
    return [context, width - left - right];
  };
  const toX = (ns, width) => left + (ns - view[0]) / (view[1] - view[0]) * width;
  const toTime = (x, width) => view[0] + (x - left) / width * (view[1] - view[0]);

  const steps = (span, count) => {
    const rough = span / count, power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= rough);
  };

  const setView = (from, to) => {
    const span = Math.min(Math.max(to - from, 100), whole[1] - whole[0]);
    const begin = Math.min(Math.max(from, whole[0]), whole[1] - span);
    view = [begin, begin + span];
    rangeText.textContent = `${place(view[0], span / 100)} to ${place(view[1], span / 100)}` +
      ` (${time(span)})`;
    redraw();
  };
  const zoom = (factor, middle) => {
    const at = middle === undefined ? (view[0] + view[1]) / 2 : middle;
    setView(at - (at - view[0]) * factor, at + (view[1] - at) * factor);
  };
  const rangeText = make('span', { class: 'range soft', 'aria-live': 'polite' });

  let selection = null;
  const drawMarks = (context, width, height) => {
    context.save();
    context.beginPath();
    context.rect(left, 0, width, height);
    context.clip();
    context.strokeStyle = style('--mark');
    context.setLineDash([3, 3]);
    for (const { time_ns: at } of data.markers) {
      if (at < view[0] || at > view[1]) continue;
      context.beginPath();
      context.moveTo(toX(at, width), 0);
      context.lineTo(toX(at, width), height);
      context.stroke();
    }
    context.setLineDash([]);
    if (selection) {
      context.fillStyle = style('--band');
      const [a, b] = selection.map((ns) => toX(ns, width));
      context.fillRect(Math.min(a, b), 0, Math.abs(b - a), height);
    }
    if (cursor !== null) {
      context.strokeStyle = style('--soft');
      context.beginPath();
      context.moveTo(toX(cursor, width), 0);
      context.lineTo(toX(cursor, width), height);
      context.stroke();
    }
    context.restore();
  };

  // Drag to zoom in, wheel with Ctrl or over the axis too; twice for everything.
  const listen = (canvas, hover) => {
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return Math.min(Math.max(toTime(event.clientX - box.left, box.width - left - right), view[0]), view[1]);
    };
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      selection = [at(event), at(event)];
    });
    canvas.addEventListener('pointermove', (event) => {
      cursor = at(event);
      if (selection) selection[1] = cursor;
      const text = hover && hover(cursor, event.offsetY);
      tip.style.display = text ? 'block' : 'none';
      if (text) {
        tip.textContent = text;
        tip.style.left = Math.min(event.clientX + 14, window.innerWidth - 310) + 'px';
        tip.style.top = event.clientY + 16 + 'px';
      }
      redraw();
    });
    const end = () => {
      if (!selection) return;
      const [a, b] = selection;
      selection = null;
      if (Math.abs(b - a) > (view[1] - view[0]) / 100) setView(Math.min(a, b), Math.max(a, b));
      else redraw();
    };
    canvas.addEventListener('pointerup', end);
    canvas.addEventListener('pointercancel', () => { selection = null; redraw(); });
    canvas.addEventListener('pointerleave', () => { cursor = null; tip.style.display = 'none'; redraw(); });
    canvas.addEventListener('dblclick', () => setView(...whole));
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const shift = event.deltaX / canvas.clientWidth * (view[1] - view[0]);
        setView(view[0] + shift, view[1] + shift);
      } else zoom(event.deltaY > 0 ? 1.25 : 0.8, at(event));
    }, { passive: false });
  };

  const axis = () => {
    const canvas = make('canvas', { 'aria-label': 'time' });
    listen(canvas);
    plots.push({
      draw() {
        const [context, width] = prepare(canvas, 24);
        const step = steps(view[1] - view[0], Math.max(2, width / 110));
        context.fillStyle = style('--soft');
        context.strokeStyle = style('--edge');
        context.textAlign = 'center';
        for (let at = Math.ceil(view[0] / step) * step; at <= view[1]; at += step) {
          const x = toX(at, width);
          context.beginPath();
          context.moveTo(x, 0);
          context.lineTo(x, 5);
          context.stroke();
          context.fillText(place(at, step), Math.min(x, left + width - 24), 18);
        }
        drawMarks(context, width, 8);
      },
    });
    return make('div', { class: 'plot' }, canvas);
  };

  // series: {title, unit, width_ns: of a point, rows: most rows of a point, value, low, high}; a point
  // of an array is null without rows, and false if its rows have no value.
  const line = (series, color) => {
    const holes = series.holes ||= new Set();
    for (const array of [series.value, series.low || [], series.high || []])
      array.forEach((v, i) => { if (v === false) { holes.add(i); array[i] = null; } });
    const canvas = make('canvas', { role: 'img', 'aria-label': series.title });
    const value = make('output');
    const index = () => Math.floor(cursor / series.width_ns);
    const height = 84, top = 6, bottom = 78;
    const high = series.high || series.value, low = series.low || series.value;
    listen(canvas);
    const plot = {
      series,
      draw() {
        const [context, width] = prepare(canvas, height);
        const first = Math.max(0, Math.floor(view[0] / series.width_ns) - 1);
        const last = Math.min(series.value.length - 1, Math.ceil(view[1] / series.width_ns) + 1);
        let max = 0, min = 0;
        for (let i = first; i <= last; i++) {
          if (high[i] !== null && high[i] > max) max = high[i];
          if (low[i] !== null && low[i] < min) min = low[i];
        }
        if (max === min) max = min + 1;
        const step = steps(max - min, 3);
        max = Math.ceil(max / step) * step;
        const toY = (v) => bottom - (v - min) / (max - min) * (bottom - top);
        context.strokeStyle = style('--edge');
        context.fillStyle = style('--soft');
        context.textAlign = 'right';
        for (let v = Math.ceil(min / step) * step; v <= max + step / 2; v += step) {
          context.beginPath();
          context.moveTo(left, toY(v));
          context.lineTo(left + width, toY(v));
          context.stroke();
          context.fillText(short(v), left - 6, toY(v) + 4);
        }
        context.save();
        context.beginPath();
        context.rect(left, 0, width, height);
        context.clip();
        const x = (i) => toX((i + 0.5) * series.width_ns, width);
        if (series.high) {
          context.fillStyle = color + '38';
          for (let i = first; i <= last; i++) {
            if (high[i] === null) continue;
            const a = toX(i * series.width_ns, width), b = toX((i + 1) * series.width_ns, width);
            context.fillRect(a, toY(high[i]), Math.max(b - a, 1), Math.max(toY(low[i]) - toY(high[i]), 1));
          }
        }
        context.strokeStyle = color;
        context.lineWidth = 1.4;
        context.beginPath();
        let before = -9;
        for (let i = first; i <= last; i++) {
          if (holes.has(i)) before = -9;
          if (series.value[i] === null) continue;
          // A hole of several points is one, a single empty point may be rounding.
          if (i - before > 2) {
            context.moveTo(x(i) - 0.7, toY(series.value[i]));
            context.lineTo(x(i) + 0.7, toY(series.value[i]));
          } else context.lineTo(x(i), toY(series.value[i]));
          before = i;
        }
        context.stroke();
        context.restore();
        drawMarks(context, width, height);
        const i = cursor === null ? -1 : index();
        if (i < 0 || series.value[i] === undefined || series.value[i] === null) value.textContent = '';
        else value.textContent = number(series.value[i]) +
          (series.high ? ` (${short(low[i])} to ${short(high[i])})` : '') + ` at ${place(cursor, series.width_ns)}`;
      },
    };
    plots.push(plot);
    plot.element = make('div', { class: 'plot' }, make('div', { class: 'label' },
      make('b', {}, series.title), make('span', {}, series.unit),
      make('span', {}, series.high ? `value and range of ≤ ${series.rows} rows (${time(series.width_ns)})` : ''),
      value), canvas);
    return plot;
  };

  const colors = ['#2f7de1', '#d9622b', '#2a9d6f', '#9b59d0', '#c2991d', '#d6457f', '#1fa3b5', '#8a6d4b'];
  const colorOf = (index) => colors[index % colors.length];

  const lane = (entry) => {
    const canvas = make('canvas', { role: 'img', 'aria-label': entry.name });
    const height = 22;
    // Spans of a lane are in order of their begin: the last that begins before a time.
    const find = (ns) => {
      let low = 0, high = entry.spans.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (entry.spans[middle][0] <= ns) low = middle + 1;
        else high = middle;
      }
      return low - 1;
    };
    const title = (span) => data.names[span[2]] +
      (span[3] > 1 ? ` and ${number(span[3] - 1)} more runs` : '');
    listen(canvas, (ns) => {
      const span = entry.spans[find(ns)];
      return span && span[1] >= ns ? `${title(span)}\n${time(span[1] - span[0])} from ${place(span[0], span[1] - span[0])}` : '';
    });
    plots.push({
      draw() {
        const [context, width] = prepare(canvas, height);
        context.save();
        context.beginPath();
        context.rect(left, 0, width, height);
        context.clip();
        context.textAlign = 'left';
        let drawn = -1;
        for (let i = Math.max(0, find(view[0])); i < entry.spans.length && entry.spans[i][0] <= view[1]; i++) {
          const span = entry.spans[i], a = toX(span[0], width), b = Math.max(toX(span[1], width), a + 1);
          if (b <= drawn + 0.5) continue;
          context.fillStyle = colorOf(span[2]);
          context.fillRect(a, 3, b - a, height - 6);
          drawn = b;
          const text = title(span), from = Math.max(a, left);
          if (Math.min(b, left + width) - from > 30 &&
              context.measureText(text).width + 8 < Math.min(b, left + width) - from) {
            context.fillStyle = '#fff';
            context.fillText(text, from + 4, height - 7);
          }
        }
        context.restore();
        drawMarks(context, width, height);
      },
    });
    return make('div', { class: 'plot' }, make('div', { class: 'label' }, make('span', {}, entry.name)), canvas);
  };

  const allSeries = () => {
    const all = [];
    for (const group of data.groups) {
      for (const metric of group.metrics)
        for (const l of metric.lines)
          all.push({ ...l, title: metric.name + (metric.lines.length > 1 ? `, tile ${l.tile}` : ''),
            unit: metric.unit, group: group.name, hint: metric.description, max: metric.max });
    }
    for (const stream of data.events)
      for (const m of stream.metrics)
        if (m.entries > 0 && m.counts.length) all.push({ title: m.name, unit: `events each ${time(m.width_ns)}`,
          group: stream.name, hint: m.description, width_ns: m.width_ns, value: m.counts, rows: 1, max: 0 });
    return all;
  };

  const timeline = () => {
    const series = allSeries();
    if (!series.length && !data.lanes.some((l) => l.spans.length)) return;
    const area = make('div');
    const chosen = new Map();
    const toggle = (index, on) => {
      if (on && !chosen.has(index)) {
        const plot = line(series[index], colorOf(index));
        chosen.set(index, plot);
        const after = [...chosen.keys()].filter((k) => k > index).sort((a, b) => a - b)[0];
        area.insertBefore(plot.element, after === undefined ? null : chosen.get(after).element);
      } else if (!on && chosen.has(index)) {
        const plot = chosen.get(index);
        plots.splice(plots.indexOf(plot), 1);
        plot.element.remove();
        chosen.delete(index);
      }
      redraw();
    };
    const wanted = series.map((s, i) => [s, i]).filter(([s]) => /percent/.test(s.unit) && s.max > 0);
    const start = (wanted.length ? wanted : series.map((s, i) => [s, i]).filter(([s]) => s.max > 0))
      .slice(0, 4).map(([, i]) => i);
    const choices = make('div', { class: 'choices' });
    let group = null;
    const labels = series.map((s, i) => {
      if (s.group !== group) choices.append(make('b', {}, group = s.group));
      const box = make('input', { type: 'checkbox', onchange: (event) => toggle(i, event.target.checked) });
      box.checked = start.includes(i);
      const label = make('label', { title: s.hint }, box, ' ' + s.title);
      choices.append(label);
      return [label, s.title.toLowerCase()];
    });
    const filter = make('input', { type: 'search', placeholder: 'Find a metric', 'aria-label': 'Find a metric',
      oninput: (event) => labels.forEach(([label, name]) => {
        label.hidden = !name.includes(event.target.value.toLowerCase());
        label.style.display = label.hidden ? 'none' : '';
      }) });
    const section = card('Timeline', make('div', { class: 'bar' },
      make('button', { onclick: () => zoom(0.5) }, 'Zoom in'),
      make('button', { onclick: () => zoom(2) }, 'Zoom out'),
      make('button', { onclick: () => setView(view[0] - (view[1] - view[0]) / 2, view[1] - (view[1] - view[0]) / 2), 'aria-label': 'Earlier' }, '◀'),
      make('button', { onclick: () => setView(view[0] + (view[1] - view[0]) / 2, view[1] + (view[1] - view[0]) / 2), 'aria-label': 'Later' }, '▶'),
      make('button', { onclick: () => setView(...whole) }, 'Everything'), rangeText));
    if (series.length)
      section.append(make('details', { class: 'choose' }, make('summary', {}, `Metrics (${series.length})`), filter, choices));
    section.append(area);
    for (const entry of data.lanes) if (entry.spans.length) section.append(lane(entry));
    section.append(axis());
    section.append(make('p', { class: 'soft' }, 'Drag over a plot to zoom, turn the wheel, click twice for everything.' +
      ' A line is the value over all rows of a point, amounts per row; the shade behind it reaches from the smallest row to the largest.' +
      (data.span_ns ? ` Runs closer than ${time(data.span_ns)} are drawn as one.` : '') +
      (data.markers.length ? ' Dashed lines are markers.' : '')));
    start.forEach((index) => toggle(index, true));
    setView(...whole);
    window.addEventListener('resize', redraw);
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  };

  // ---- the rest ----------------------------------------------------------------------------

  const kernels = () => {
    if (!data.kernels.length) return;
    const details = make('div');
    const show = (kernel) => {
      details.replaceChildren(make('h3', {}, `${kernel.name}: metrics of the rows inside its runs`));
      for (const group of kernel.groups)
        details.append(make('p', { class: 'soft' }, `${group.name}: ${number(group.samples)} rows`), 
          metricTable(group.metrics, data.groups.find((g) => g.name === group.name).metrics));
      if (!kernel.groups.length) details.append(make('p', { class: 'soft' }, 'No row lies inside a run.'));
    };
    const rows = data.kernels.map((k) => [k.name, k.count, k.total_ns, k.total_ns / k.count, k.min_ns, k.max_ns,
      k.groups.reduce((s, g) => s + g.samples, 0), k]);
    card('Kernels', table([
      { title: 'Kernel', text: true, show: (name, row) => make('button', { onclick: () => show(row[7]) }, name) },
      { title: 'Runs', show: number }, { title: 'Total', show: (v) => time(v) }, { title: 'Mean', show: (v) => time(v) },
      { title: 'Min', show: (v) => time(v) }, { title: 'Max', show: (v) => time(v) }, { title: 'Rows inside', show: number },
    ], rows, 2, true), make('p', { class: 'soft' },
      'A row belongs to a kernel if it lies wholly inside one run while nothing else runs; nothing is interpolated. ' +
      data.kernel_rows.map((g) => `${g.group}: ${number(g.shared)} rows shared, ${number(g.idle)} while nothing ran`).join('; ') +
      '. Choose a kernel for its metrics.'), details);
  };

  const calls = () => {
    const columns = (name) => [{ title: name, text: true }, { title: 'Times', show: number }, { title: 'Total', show: (v) => time(v) },
      { title: 'Mean', show: (v) => time(v) }, { title: 'Min', show: (v) => time(v) }, { title: 'Max', show: (v) => time(v) },
      { title: 'Errors', show: (v) => v ? number(v) : '' }];
    const rows = (list) => list.map((a) =>
      [a.name, a.count, a.total_ns, a.total_ns / a.count, a.min_ns, a.max_ns, a.errors]);
    if (data.calls.length) card('Calls', table(columns('Function'), rows(data.calls), 2, true));
    if (data.work.length) card('Work of the devices', table(columns('Work').slice(0, 6), rows(data.work), 2, true));
  };

  const profile = () => {
    if (!data.profile) return;
    const p = data.profile;
    card('Where threads were', make('p', { class: 'soft' }, `${number(p.samples)} samples, ${p.losses}` +
      (p.left_out ? `; ${number(p.left_out)} places with fewer samples are left out` : '')),
    table([{ title: 'Kernel', text: true }, { title: 'Place', text: true, show: (v) => v.replace(/^.*\//, ''), hint: (row) => row[1] },
      { title: 'Samples', show: number }, ...p.reasons.map((title) => ({ title, show: (v) => v ? number(v) : '' }))],
    p.lines.map((l) => [l.kernel || '(unknown)', l.file ? `${l.file}:${l.line || '?'}` : '0x' + l.address.toString(16),
      l.samples, ...p.reasons.map((reason) => l[reason])]), 2, true));
  };

  summary();
  timeline();
  kernels();
  for (const group of data.groups)
    card(group.name, make('p', { class: 'soft' }, groupLine(group)), metricTable(group.metrics, group.metrics));
  for (const stream of data.events)
    card(stream.name, make('p', { class: 'soft' }, stream.losses),
      table([{ title: 'Event', text: true, hint: (row) => row[2] }, { title: 'Entries', show: number }],
        stream.metrics.filter((m) => m.entries).map((m) => [m.name, m.entries, m.description])));
  profile();
  calls();
  if (data.markers.length)
    card('Markers', table([{ title: 'Time', show: (v) => place(v, 1000) }, { title: 'Value' }, { title: 'Source', text: true }],
      data.markers.map((m) => [m.time_ns, m.value, m.source]), 0, false));
  page.append(make('p', { class: 'soft' }, `Written by zeta ${data.version}. This page needs no network.`), tip);
})();
