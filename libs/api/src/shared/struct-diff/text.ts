/** Lays out printed structures: on one line if possible, otherwise one record a line. Pure. */

export type Side = ' ' | '-' | '+';

export interface TextRecord {
  readonly side?: Side;
  readonly key?: string;
  readonly value: Text;
  /** Replaces a number of records; no comma follows. */
  readonly isEllipsis?: true;
  readonly comment?: string;
}

/** A finished text, or a list between a prefix and a suffix. */
export type Text =
  | string
  | { readonly prefix: string; readonly records: readonly TextRecord[]; readonly suffix: string };

/** Longer records of one side are printed on several lines. */
const lineLengthMax = 80;

/** Returns the text on one line if it fits there, with its parts on one line where they do. */
function compact(text: Text, side: Side): Text {
  if (typeof text === 'string') return text;
  let isSingle = true;
  const records = text.records.map((record) => {
    const value = compact(record.value, sideOf(side, record));
    if (record.side === '-' || record.side === '+' || typeof value !== 'string') isSingle = false;
    return { ...record, value };
  });
  if (isSingle) {
    const line = records
      .map(({ key, value, comment }) => `${key ? `${key}: ` : ''}${String(value)}${noted(comment)}`)
      .join(', ');
    if (side === ' ' || line.length <= lineLengthMax) return text.prefix + line + text.suffix;
  }
  return { ...text, records };
}

const noted = (comment: string | undefined) => (comment === undefined ? '' : ` // ${comment}`);
const sideOf = (side: Side, record: TextRecord): Side =>
  side === ' ' ? (record.side ?? ' ') : side;
/** Upstream's margin has no-break spaces. */
const noBreakSpace = '\u00a0';
const indented = (side: Side, level: number) =>
  `${side === ' ' ? noBreakSpace : side}${noBreakSpace}${'\t'.repeat(level)}`;

function expand(text: Text, side: Side, level: number): string {
  if (typeof text === 'string') return text;
  const paddings = paddingsOf(text.records);
  const lines = text.records.map((record, index) => {
    const own = sideOf(side, record);
    const key = record.key ? `${record.key}: ${' '.repeat(paddings[index] ?? 0)}` : '';
    const comma = record.isEllipsis ? '' : ',';
    const value = expand(record.value, own, level + 1);
    return `\n${indented(own, level + 1)}${key}${value}${comma}${noted(record.comment)}`;
  });
  return `${text.prefix}${lines.join('')}\n${indented(side, level)}${text.suffix}`;
}

/** Values of consecutive records of one line are aligned. */
function paddingsOf(records: readonly TextRecord[]): number[] {
  const paddings = records.map(() => 0);
  let group: number[] = [];
  const finish = () => {
    const lengthMax = Math.max(0, ...group.map((index) => records[index]?.key?.length ?? 0));
    for (const index of group) paddings[index] = lengthMax - (records[index]?.key?.length ?? 0);
    group = [];
  };
  for (const [index, { key, value }] of records.entries()) {
    if (!key || typeof value !== 'string') finish();
    else group.push(index);
  }
  finish();
  return paddings;
}

/** The whole text, with a line break at its end. */
export function layOut(text: Text): string {
  return `${indented(' ', 0)}${expand(compact(text, ' '), ' ', 0)}\n`;
}
