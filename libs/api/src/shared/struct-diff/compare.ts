/** Compares two values of a shape and counts where they differ. Pure. */
import { Quantity } from '@orch/apimachinery';
import type { Shape } from './shape.js';

/** The value of a map entry or list element that only the other side has. */
export const missing = Symbol('missing');

export interface Comparison {
  readonly shape: Shape;
  readonly x: unknown;
  readonly y: unknown;
  /** Number of equal and of different leaves. */
  readonly same: number;
  readonly different: number;
  /** Number of comparisons below, and of levels. */
  readonly childCount: number;
  readonly depth: number;
  readonly records: readonly Compared[];
}

export interface Compared {
  readonly key: string;
  readonly value: Comparison;
}

type Values = Readonly<Record<string, unknown>>;

export function compare(shape: Shape, x: unknown, y: unknown): Comparison {
  if (x === missing || y === missing) return leaf(shape, x, y, false);
  if (shape.kind === 'struct') {
    const [left, right] = [(x ?? {}) as Values, (y ?? {}) as Values];
    const records = shape.fields.map(({ label, name, shape: of }) => ({
      key: label,
      value: compare(of, left[name], right[name]),
    }));
    return branch(shape, left, right, records);
  }
  if (shape.kind === 'quantity') return leaf(shape, x, y, sameAmount(x, y));
  if (shape.kind === 'text' || shape.kind === 'number' || shape.kind === 'bool') {
    return leaf(shape, x, y, (x ?? zeroOf(shape.kind)) === (y ?? zeroOf(shape.kind)));
  }
  if (x === undefined || y === undefined) return leaf(shape, x, y, x === y);
  if (shape.kind === 'pointer') {
    return branch(shape, x, y, [{ key: '', value: compare(shape.of, x, y) }]);
  }
  if (shape.kind === 'map') return branch(shape, x, y, entries(shape, x as Values, y as Values));
  return branch(shape, x, y, elements(shape.of, x as unknown[], y as unknown[]));
}

export function zeroOf(kind: 'text' | 'number' | 'bool'): string | number | boolean {
  if (kind === 'text') return '';
  return kind === 'number' ? 0 : false;
}

function sameAmount(x: unknown, y: unknown): boolean {
  return Quantity.parse(String(x ?? '0')).compare(Quantity.parse(String(y ?? '0'))) === 0;
}

function leaf(shape: Shape, x: unknown, y: unknown, isSame: boolean): Comparison {
  const counts = { same: isSame ? 1 : 0, different: isSame ? 0 : 1 };
  return { shape, x, y, ...counts, childCount: 0, depth: 0, records: [] };
}

function branch(shape: Shape, x: unknown, y: unknown, records: readonly Compared[]): Comparison {
  const sum = { same: 0, different: 0, childCount: 0, depth: 0 };
  for (const { value } of records) {
    sum.same += value.same;
    sum.different += value.different;
    sum.childCount += value.childCount + 1;
    sum.depth = Math.max(sum.depth, value.depth + 1);
  }
  return { shape, x, y, ...sum, records };
}

function entries(shape: Shape & { kind: 'map' }, x: Values, y: Values): Compared[] {
  const names = [...new Set([...Object.keys(x), ...Object.keys(y)])].sort();
  return names.map((name) => ({
    key: `${shape.prefix}${JSON.stringify(name)}`,
    value: compare(
      shape.of,
      Object.hasOwn(x, name) ? x[name] : missing,
      Object.hasOwn(y, name) ? y[name] : missing,
    ),
  }));
}

/** Pairs the elements between the equal ones at the start and at the end by position. */
function elements(shape: Shape, x: readonly unknown[], y: readonly unknown[]): Compared[] {
  const isSame = (left: unknown, right: unknown) => compare(shape, left, right).different === 0;
  const shorter = Math.min(x.length, y.length);
  let start = 0;
  while (start < shorter && isSame(x[start], y[start])) start += 1;
  let end = 0;
  while (end < shorter - start && isSame(x.at(-1 - end), y.at(-1 - end))) end += 1;
  const [left, right] = [x.slice(start, x.length - end), y.slice(start, y.length - end)];
  const at = (list: readonly unknown[], index: number) =>
    index < list.length ? list[index] : missing;
  const middle = Array.from({ length: Math.max(left.length, right.length) }, (_, index) =>
    compare(shape, at(left, index), at(right, index)),
  );
  const equal = (values: readonly unknown[]) => values.map((value) => compare(shape, value, value));
  return [...equal(x.slice(0, start)), ...middle, ...equal(x.slice(x.length - end))].map(
    (value) => ({
      key: '',
      value,
    }),
  );
}
