/**
 * Draws a figure of several panels as SVG, without a browser: text and lines in classes, whose
 * colours follow the light or dark mode of the reader.
 */

const panelWidth = 300;
const panelHeight = 190;
const margin = { left: 58, right: 16, top: 62, bottom: 44 };
const titleHeight = 30;
const legendLineHeight = 15;
const tickCount = 4;

const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 15px; font-weight: 600; }
  .panel { font-weight: 600; }
  .tick { font-size: 11px; fill: #57606a; }
  .grid { stroke: #d0d7de; stroke-width: 1; }
  .line { fill: none; stroke-width: 2; }
  .s0 { stroke: #0969da; } .f0 { fill: #0969da; }
  .s1 { stroke: #bc4c00; } .f1 { fill: #bc4c00; }
  .s2 { stroke: #1a7f37; } .f2 { fill: #1a7f37; }
  .s3 { stroke: #8250df; } .f3 { fill: #8250df; }
  .paper { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .tick { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .s0 { stroke: #58a6ff; } .f0 { fill: #58a6ff; }
    .s1 { stroke: #f0883e; } .f1 { fill: #f0883e; }
    .s2 { stroke: #3fb950; } .f2 { fill: #3fb950; }
    .s3 { stroke: #bc8cff; } .f3 { fill: #bc8cff; }
    .paper { fill: #0d1117; }
  }`;

/** Returns 1, 2 or 5 times a power of ten. */
function niceStep(span) {
  const power = 10 ** Math.floor(Math.log10(span));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => span <= step * 1.001);
}

/** Returns the position (0 to 1) of a value and the values with a tick. */
function linearScale(highest) {
  const step = niceStep((highest || 1) / tickCount);
  const end = Math.ceil((highest || 1) / step - 1e-9) * step;
  const ticks = [];
  for (let at = 0; at <= end + step / 2; at += step) ticks.push(Number(at.toPrecision(6)));
  return { at: (value) => value / end, ticks };
}

function logScale(lowest, highest) {
  const from = Math.floor(Math.log10(lowest) + 1e-9);
  const to = Math.max(from + 1, Math.ceil(Math.log10(highest) - 1e-9));
  const ticks = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  return { at: (value) => (Math.log10(value) - from) / (to - from), ticks };
}

/** Values at equal distances, such as 1, 3 and 5 replicas. */
function stepScale(values) {
  const margins = values.length + 1;
  return { at: (value) => (values.indexOf(value) + 1) / margins, ticks: values };
}

/** `1500000` becomes `1.5M`. */
export function shortNumber(value) {
  const units = [
    [1e6, 'M'],
    [1e3, 'k'],
  ];
  const [size, unit] = units.find(([least]) => value >= least) ?? [1, ''];
  return `${Number((value / size).toPrecision(3))}${unit}`;
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const fixed = (value) => Number(value.toFixed(1));

function text(x, y, content, { kind = '', anchor = 'start' } = {}) {
  const placed = `x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}"`;
  return `<text ${placed}${kind && ` class="${kind}"`}>${escaped(content)}</text>`;
}

function line(from, to, kind) {
  const ends = `x1="${fixed(from.x)}" y1="${fixed(from.y)}" x2="${fixed(to.x)}" y2="${fixed(to.y)}"`;
  return `<line ${ends} class="${kind}"/>`;
}

function seriesLine(positions, index) {
  const points = positions.map(({ x, y }) => `${fixed(x)},${fixed(y)}`).join(' ');
  const dots = positions.map(
    ({ x, y }) => `<circle cx="${fixed(x)}" cy="${fixed(y)}" r="3" class="f${index}"/>`,
  );
  return [`<polyline points="${points}" class="line s${index}"/>`, ...dots];
}

function scalesOf(panel, points, x) {
  const found = panel.series.flatMap(({ key }) => points.map((point) => point[key]));
  const values = found.filter((value) => value !== undefined);
  const highest = Math.max(...values);
  const positions = points.map((point) => point[x.key]);
  return {
    across: x.isLog
      ? logScale(Math.min(...positions), Math.max(...positions))
      : stepScale(positions),
    up: panel.isLog ? logScale(Math.min(...values), highest) : linearScale(highest),
  };
}

function drawPanel(panel, points, x, left) {
  const { across, up } = scalesOf(panel, points, x);
  const top = titleHeight + margin.top;
  const bottom = top + panelHeight;
  const start = left + margin.left;
  const atX = (value) => start + across.at(value) * panelWidth;
  const atY = (value) => bottom - up.at(value) * panelHeight;
  const parts = [text(start, titleHeight + 16, panel.title, { kind: 'panel' })];
  for (const [index, { name }] of panel.series.entries()) {
    const column = start + (index % 2) * (panelWidth / 2);
    const row = titleHeight + 32 + Math.floor(index / 2) * legendLineHeight;
    parts.push(text(column, row, name, { kind: `f${index}` }));
  }
  for (const tick of up.ticks) {
    parts.push(line({ x: start, y: atY(tick) }, { x: start + panelWidth, y: atY(tick) }, 'grid'));
    const label = { kind: 'tick', anchor: 'end' };
    parts.push(text(start - 6, atY(tick) + 4, shortNumber(tick), label));
  }
  for (const tick of across.ticks) {
    parts.push(line({ x: atX(tick), y: bottom }, { x: atX(tick), y: bottom + 4 }, 'grid'));
    const label = { kind: 'tick', anchor: 'middle' };
    parts.push(text(atX(tick), bottom + 17, shortNumber(tick), label));
  }
  parts.push(text(start + panelWidth / 2, bottom + 36, x.label, { anchor: 'middle' }));
  for (const [index, { key }] of panel.series.entries()) {
    const seen = points.filter((point) => point[key] !== undefined);
    const positions = seen.map((point) => ({ x: atX(point[x.key]), y: atY(point[key]) }));
    parts.push(...seriesLine(positions, index));
  }
  return parts;
}

/** Returns the SVG of a chart: `title`, `x` (label, key, isLog) and `panels`, side by side. */
export function drawChart({ title, x, panels }, points) {
  const each = margin.left + panelWidth + margin.right;
  const width = each * panels.length;
  const height = titleHeight + margin.top + panelHeight + margin.bottom;
  const parts = [
    `<rect width="${width}" height="${height}" class="paper"/>`,
    text(12, 20, title, { kind: 'title' }),
    ...panels.flatMap((panel, index) => drawPanel(panel, points, x, index * each)),
  ];
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escaped(title)}">
<style>${style}
</style>
${parts.join('\n')}
</svg>
`;
}
