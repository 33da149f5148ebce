/**
 * Describes where two objects of a type differ, as upstream prints it: `-` marks the first value,
 * `+` the second, and equal fields far from a difference are counted. Pure.
 */
import { Quantity, type TypeName } from '@orch/apimachinery';
import type { LabelSelector } from '@orch/types/meta/v1';
import { type Compared, type Comparison, compare, missing, zeroOf } from './compare.js';
import { type Shape, shapeOf } from './shape.js';
import { layOut, type Side, type Text, type TextRecord } from './text.js';

/** Equal records printed beside a difference. Higher: longer errors. Lower: less context. */
const contextCount = 2;
const changedLevel = 3;
const textLengthMax = 32;

export function structDiff(type: TypeName, x: object, y: object): string {
  return layOut(diff(compare(shapeOf(type), x, y), true));
}

/** How a value is printed: its side, the remaining levels, and whether types are named. */
interface Style {
  readonly side: Side;
  readonly level: number;
  readonly typed: boolean;
}

type Named = boolean;

function diff(node: Comparison, named: Named): Text {
  const { shape, records } = node;
  if (records.length === 0) return changedLeaf(node, named);
  if (shape.kind === 'pointer') return behindPointer(diff(records[0]!.value, true));
  const isStruct = shape.kind === 'struct';
  const groups = grouped(records);
  const list = groups.flatMap((group, index) =>
    group[0]!.value.different === 0
      ? context(group, index === 0, index === groups.length - 1, shape)
      : group.flatMap((record) => changed(record, isStruct)),
  );
  return { prefix: `${named ? typeOf(shape) : ''}{`, records: list, suffix: '}' };
}

function behindPointer(text: Text): Text {
  return typeof text === 'string' ? `&${text}` : { ...text, prefix: `&${text.prefix}` };
}

function changedLeaf({ shape, x, y }: Comparison, named: Named): Text {
  const style = { level: changedLevel, typed: false };
  const sides: TextRecord[] = [
    { side: '-', value: print(shape, x, { ...style, side: '-' }) },
    { side: '+', value: print(shape, y, { ...style, side: '+' }) },
  ];
  return { prefix: `${named ? typeOf(shape) : ''}(`, records: sides, suffix: ')' };
}

/** Runs of records that are equal, and of records that are not. */
function grouped(records: readonly Compared[]): Compared[][] {
  const groups: Compared[][] = [];
  for (const record of records) {
    const last = groups.at(-1);
    const isSame = record.value.different === 0;
    if (last && (last[0]!.value.different === 0) === isSame) last.push(record);
    else groups.push([record]);
  }
  return groups;
}

const recordNames = { struct: 'field', list: 'element', map: 'entry' } as const;

function context(
  group: readonly Compared[],
  isFirst: boolean,
  isLast: boolean,
  shape: Shape,
): TextRecord[] {
  const before = isFirst ? 0 : Math.min(contextCount, group.length);
  let after = isLast ? 0 : Math.min(contextCount, group.length - before);
  if (group.length - before - after === 1) after += 1;
  const skipped = group.length - before - after;
  const same = ({ key, value }: Compared): TextRecord => ({
    key,
    value: print(value.shape, value.x, { side: ' ', level: 1, typed: false }),
  });
  const name = recordNames[shape.kind as keyof typeof recordNames];
  const plural = name === 'entry' ? 'entries' : `${name}s`;
  const comment = `${skipped} identical ${skipped === 1 ? name : plural}`;
  return [
    ...group.slice(0, before).map(same),
    ...(skipped > 0 ? [{ value: '...', isEllipsis: true as const, comment }] : []),
    ...group.slice(group.length - after).map(same),
  ];
}

function changed({ key, value }: Compared, isField: boolean): TextRecord[] {
  if (value.childCount !== value.depth) return [{ key, value: diff(value, isField) }];
  const side = (mark: '-' | '+', shown: unknown): TextRecord[] => {
    if (shown === missing) return [];
    const style = { side: mark, level: changedLevel, typed: isField };
    return [{ side: mark, key, value: print(value.shape, shown, style) }];
  };
  return [...side('-', value.x), ...side('+', value.y)];
}

function typeOf(shape: Shape): string {
  if (shape.kind === 'quantity') return 'resource.Quantity';
  return 'type' in shape ? shape.type : '';
}

function print(shape: Shape, value: unknown, style: Style): Text {
  const { side, level, typed } = style;
  const braced = (records: TextRecord[]): Text => ({
    prefix: `${typed ? typeOf(shape) : ''}{`,
    records: records.length > lengthMax(level) ? cut(records, lengthMax(level)) : records,
    suffix: '}',
  });
  // Equal structures are walked again member by member, so that their level stays.
  const inner = { side, level: side === ' ' ? level : Math.max(0, level - 1) };
  if (shape.kind === 'quantity') return braced(quantityParts(String(value), level - 1));
  if (shape.kind === 'struct') {
    const typedFields = { ...inner, typed: side !== ' ' };
    const fields = shape.fields.filter(({ name, shape: of }) => !isZero(of, memberOf(value, name)));
    return braced(
      fields.map(({ label, name, shape: of }) => ({
        key: label,
        value: print(of, memberOf(value, name), typedFields),
      })),
    );
  }
  if (shape.kind === 'text') return quote(String(value ?? ''), level);
  if (shape.kind === 'number' || shape.kind === 'bool') return String(value ?? zeroOf(shape.kind));
  if (value === undefined) return 'nil';
  if (shape.kind === 'pointer') {
    // The only type here that upstream prints with a method of its own.
    if (typeOf(shape.of) === selectorType && side !== ' ')
      return selectorText(value as LabelSelector);
    return behindPointer(print(shape.of, value, style));
  }
  const untyped = { ...inner, typed: false };
  if (shape.kind === 'list') {
    return braced((value as unknown[]).map((item) => ({ value: print(shape.of, item, untyped) })));
  }
  const members = Object.entries(value as Record<string, unknown>).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return braced(
    members.map(([name, member]) => ({
      key: `${shape.prefix}${JSON.stringify(name)}`,
      value: print(shape.of, member, untyped),
    })),
  );
}

const selectorType = 'v1.LabelSelector';

function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.entries(matchLabels).sort(([a], [b]) => (a < b ? -1 : 1));
  const texts = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const shown = `&LabelSelector{MatchLabels:map[string]string{${labels
    .map(([key, value]) => `${key}: ${value},`)
    .join('')}},MatchExpressions:[]LabelSelectorRequirement{${texts.join('')}},}`;
  return `s${JSON.stringify(shown)}`;
}

const memberOf = (value: unknown, name: string) =>
  (value as Readonly<Record<string, unknown>>)[name];
const lengthMax = (level: number) => ((1 << level) >> 1) << 2;
const cut = (records: TextRecord[], count: number): TextRecord[] => [
  ...records.slice(0, count),
  { value: '...', isEllipsis: true },
];

function quote(text: string, level: number): string {
  const most = (1 << level) * textLengthMax;
  return text.length > most + 3
    ? `${JSON.stringify(text.slice(0, most))}...`
    : JSON.stringify(text);
}

function isZero(shape: Shape, value: unknown): boolean {
  if (value === undefined) return true;
  if (shape.kind === 'text' || shape.kind === 'number' || shape.kind === 'bool') {
    return value === zeroOf(shape.kind);
  }
  return (
    shape.kind === 'struct' &&
    shape.fields.every(({ name, shape: of }) => isZero(of, memberOf(value, name)))
  );
}

/** The members of a quantity: an integer with a decimal scale, its text and its format. */
function quantityParts(text: string, level: number): TextRecord[] {
  const { value, scale } = scaled(text);
  const amount = [`value: ${value}`, ...(scale === 0 ? [] : [`scale: ${scale}`])].join(', ');
  const format = /i$/.test(text) ? 'BinarySI' : /e/i.test(text) ? 'DecimalExponent' : 'DecimalSI';
  return [
    { key: 'i', value: level === 0 ? '{...}' : `resource.int64Amount{${amount}}` },
    { key: 's', value: JSON.stringify(text) },
    { key: 'Format', value: JSON.stringify(format) },
  ];
}

const exponents: Readonly<Record<string, number>> = {
  ...{ n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 },
};

function scaled(text: string): { value: string; scale: number } {
  const [, digits = '', suffix = ''] = /^([+-]?\d+)([a-zA-Z]*)$/.exec(text) ?? [];
  const scale = exponents[suffix];
  if (digits !== '' && scale !== undefined) return { value: digits, scale };
  return { value: String(Quantity.parse(text).units()), scale: 0 };
}
