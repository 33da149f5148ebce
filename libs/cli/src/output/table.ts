/**
 * Text tables: each column is as wide as its widest cell, three spaces apart, no trailing spaces.
 */

const gap = 3;
const widthMin = 6;

export class TableWriter {
  private widths: number[] = [];

  /** Rows as lines. Columns never get narrower in later calls, so that a watch stays aligned. */
  format(rows: readonly (readonly string[])[]): string {
    const clean = rows.map((row) => row.map(printable));
    for (const row of clean) {
      row.forEach((cell, column) => {
        const width = Math.max(cell.length + gap, widthMin);
        this.widths[column] = Math.max(this.widths[column] ?? 0, width);
      });
    }
    return clean
      .map((row) => {
        const cells = row.map((cell, column) =>
          column === row.length - 1 ? cell : cell.padEnd(this.widths[column] ?? 0),
        );
        return `${cells.join('').trimEnd()}\n`;
      })
      .join('');
  }
}

/** The text on one line and without control characters. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) =>
    character === '\n' || character === '\t' ? ' ' : '\ufffd',
  );
}
