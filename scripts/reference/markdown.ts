/**
 * Markdown that is readable on GitHub and in a terminal: padded tables, anchors, links between
 * pages.
 */
import { dirname, relative } from 'node:path/posix';

/** Cells are padded up to this width; a longer cell must not move the other columns out of view. */
const paddedWidthMax = 44;

/** Omits columns without content. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const kept = heads.map((_, column) => rows.some((row) => row[column] !== ''));
  const lines = [heads, ...rows].map((row) => row.filter((_, column) => kept[column]));
  const widths = lines[0]!.map((_, column) =>
    Math.max(3, ...lines.map((line) => line[column]!.length).filter((n) => n <= paddedWidthMax)),
  );
  const text = (line: readonly string[]) =>
    `| ${line.map((cell, column) => (column === line.length - 1 ? cell : cell.padEnd(widths[column]!))).join(' | ')} |\n`;
  const rule = widths.map((width, column) => '-'.repeat(column === widths.length - 1 ? 3 : width));
  return [text(lines[0]!), text(rule), ...lines.slice(1).map(text)].join('');
}

/** Escapes text for a table cell. */
export function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** Code quotes; a bar would end the cell of a table. */
export function code(text: string): string {
  const fence = text.includes('`') ? '``' : '`';
  return `${fence}${text}${fence}`;
}

/** The anchor of a heading. */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

export function link(text: string, from: string, to: string, heading?: string): string {
  const path = from === to ? '' : relative(dirname(from), to);
  return `[${text}](${path}${heading === undefined ? '' : `#${anchor(heading)}`})`;
}

export function sentence(text: string): string {
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`;
}
