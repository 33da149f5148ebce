/**
 * Generates README.md of the chart: README.md.tmpl with a table for each part of values.yaml in
 * place of the line `<!-- values -->`. A comment that starts with `--` describes the value below it
 * and ends at the next value. A described map is one row; other maps have a row for each member. A
 * value without a description is an error. `--check` writes nothing and fails if the file is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isMap, parseDocument } from 'yaml';

const chart = resolve(import.meta.dirname, '../../charts/orch');
const mark = '<!-- values -->';

/** The values in the order of the file: `{ path, description, fallback }`. */
function describedValues(text) {
  const values = [];
  const walk = (map, prefix, inherited) => {
    for (const [i, { key, value }] of map.items.entries()) {
      const path = [...prefix, key.value];
      // The parser gives a comment before the first member of a map to the map.
      const comment = key.commentBefore ?? (i === 0 ? inherited : undefined);
      const description = descriptionOf(comment);
      if (description !== undefined) {
        values.push({ path, description, fallback: JSON.stringify(value.toJSON()) });
      } else if (isMap(value) && value.items.length > 0) {
        walk(value, path, value.commentBefore);
      } else {
        throw new Error(`values.yaml: ${path.join('.')} has no comment that starts with "--"`);
      }
    }
  };
  const document = parseDocument(text);
  if (!isMap(document.contents)) throw new Error('values.yaml is not a map');
  walk(document.contents, [], document.contents.commentBefore);
  return values;
}

/** The last paragraph of a comment, if it begins with `--`. */
function descriptionOf(comment) {
  const lines = (comment ?? '').split('\n').map((line) => line.trim());
  const start = lines.findLastIndex((line) => line.startsWith('-- '));
  if (start < 0) return undefined;
  return lines.slice(start).join(' ').slice(3).trim();
}

function tables(values) {
  const parts = new Map();
  for (const value of values) {
    const part = value.path.length === 1 ? 'All' : value.path[0];
    parts.set(part, [...(parts.get(part) ?? []), value]);
  }
  return [...parts]
    .map(([part, rows]) => [`### ${part}`, '', ...table(rows)].join('\n'))
    .join('\n\n');
}

function table(rows) {
  const cells = [
    ['value', 'default', 'description'],
    ...rows.map(({ path, description, fallback }) => [
      `\`${path.join('.')}\``,
      `\`${fallback}\``,
      description.replaceAll('|', '\\|'),
    ]),
  ];
  const widths = [0, 1, 2].map((at) => Math.max(...cells.map((row) => row[at].length)));
  const line = (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at])).join(' | ')} |`;
  const [head, ...body] = cells;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...body.map(line)];
}

const template = readFileSync(join(chart, 'README.md.tmpl'), 'utf8');
if (!template.includes(mark)) throw new Error(`README.md.tmpl has no line ${mark}`);
const values = describedValues(readFileSync(join(chart, 'values.yaml'), 'utf8'));
const text = template.replace(mark, () => tables(values));
const target = join(chart, 'README.md');
if (!process.argv.includes('--check')) writeFileSync(target, text);
else if (readFileSync(target, 'utf8') !== text) {
  process.stderr.write('charts/orch/README.md is stale: run npm run chart:docs\n');
  process.exit(1);
}
