/** A description of an object: labelled values, nested blocks and tables. `text` aligns them. */
import { TableWriter } from '../output/table.js';

type Part =
  | { readonly kind: 'field'; readonly label: string; readonly values: readonly string[] }
  | { readonly kind: 'block'; readonly label: string; readonly inner: Description }
  | { readonly kind: 'table'; readonly label: string; readonly rows: readonly string[][] };

const indentStep = '  ';

export class Description {
  private readonly parts: Part[] = [];

  /** Adds a field with one value per line. Adds nothing for undefined or an empty text. */
  field(label: string, value: string | number | boolean | readonly string[] | undefined): this {
    if (value === undefined || value === '') return this;
    const values = Array.isArray(value) ? value : [String(value)];
    this.parts.push({ kind: 'field', label, values: values.length > 0 ? values : ['<none>'] });
    return this;
  }

  /** Adds a field with one `a=1` per line, sorted, or `<none>`. */
  pairs(label: string, map: Readonly<Record<string, string>> | undefined, separator = '='): this {
    const lines = Object.entries(map ?? {}).map(([key, value]) => `${key}${separator}${value}`);
    return this.field(label, lines.sort());
  }

  block(label: string, fill: (inner: Description) => void): this {
    const inner = new Description();
    fill(inner);
    if (inner.parts.length > 0) this.parts.push({ kind: 'block', label, inner });
    else this.field(label, ['<none>']);
    return this;
  }

  /** Adds a table. The first row is its header; a table without further rows is `<none>`. */
  table(label: string, rows: readonly string[][]): this {
    if (rows.length <= 1) return this.field(label, ['<none>']);
    this.parts.push({ kind: 'table', label, rows });
    return this;
  }

  text(indent = ''): string {
    const width = Math.max(
      0,
      ...this.parts.map((part) => (part.kind === 'field' ? part.label.length + 1 : 0)),
    );
    return this.parts.map((part) => partText(part, indent, width + 2)).join('');
  }
}

function partText(part: Part, indent: string, width: number): string {
  switch (part.kind) {
    case 'field': {
      const head = `${part.label}:`.padEnd(width);
      const lines = part.values.flatMap((value) => value.split('\n'));
      return lines
        .map((line, index) => `${indent}${index === 0 ? head : ' '.repeat(width)}${line}`.trimEnd())
        .map((line) => `${line}\n`)
        .join('');
    }
    case 'block':
      return `${indent}${part.label}:\n${part.inner.text(indent + indentStep)}`;
    case 'table': {
      const [head = [], ...rows] = part.rows;
      const rule = head.map((cell) => '-'.repeat(cell.length));
      const table = new TableWriter().format([head, rule, ...rows]);
      const lines = table.trimEnd().split('\n');
      return `${indent}${part.label}:\n${lines.map((line) => `${indent}${indentStep}${line}\n`).join('')}`;
    }
  }
}
