/**
 * The subset of JSONPath that people use on the command line: `.a.b`, `['a.b']`, `[0]`, `[-1]`, `[*]`,
 * `..name` and `[?(@.a.b=="text")]`. `json-path-template.ts` puts them into text.
 */
import { UsageError } from './errors.js';

type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly from?: number; readonly to?: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'descend'; readonly name: string }
  | {
      readonly kind: 'filter';
      readonly path: JsonPath;
      readonly operator: string;
      readonly value: string | number | boolean | undefined;
    };

export type JsonPath = readonly Step[];

const stepPattern =
  /\.\.([\w-]+)|\.?\[\?\(\s*(@[^=!<>)]*?)\s*(?:(==|!=|<=|>=|<|>)\s*((?:"[^"]*")|(?:'[^']*')|[^)\s]+)\s*)?\)\]|\.?\[\s*'([^']*)'\s*\]|\.?\[\s*"([^"]*)"\s*\]|\.?\[\s*(\*|-?\d+)\s*\]|\.?\[\s*(-?\d*):(-?\d*)\s*\]|\.(\*)|\.?((?:[\w$/@-]|\\\.)+)/y;

/** Of `.status.phase`, `{.status.phase}` or `status.phase`. Throws `UsageError`. */
export function parsePath(text: string): JsonPath {
  let source = text.trim();
  if (source.startsWith('{') && source.endsWith('}')) source = source.slice(1, -1).trim();
  if (source.startsWith('$')) source = source.slice(1);
  const steps: Step[] = [];
  // A copy for each call: filters are parsed within, and the position is part of the expression.
  const pattern = new RegExp(stepPattern);
  while (pattern.lastIndex < source.length) {
    const from = pattern.lastIndex;
    if (source.slice(from) === '.') break;
    const match = pattern.exec(source);
    if (!match) {
      throw new UsageError(
        `cannot read JSON path ${JSON.stringify(text)} from "${source.slice(from)}" on`,
      );
    }
    steps.push(stepOf(match));
  }
  return steps;
}

function stepOf(match: RegExpExecArray): Step {
  const [, descend, filter, operator = '', operand, single, double, index, from, to, star, name] =
    match;
  if (descend !== undefined) return { kind: 'descend', name: descend };
  if (filter !== undefined) {
    const value = operand === undefined ? undefined : literal(operand);
    return { kind: 'filter', path: parsePath(filter.slice(1)), operator, value };
  }
  if (index === '*' || star === '*') return { kind: 'all' };
  if (index !== undefined) return { kind: 'index', index: Number(index) };
  if (from !== undefined || to !== undefined) {
    const bound = (text: string | undefined) => (text ? Number(text) : undefined);
    return { kind: 'slice', from: bound(from), to: bound(to) };
  }
  return { kind: 'field', name: (single ?? double ?? name ?? '').replace(/\\\./g, '.') };
}

function literal(text: string): string | number | boolean {
  const quoted = /^"(.*)"$|^'(.*)'$/s.exec(text);
  if (quoted) return quoted[1] ?? quoted[2] ?? '';
  if (text === 'true' || text === 'false') return text === 'true';
  return Number.isNaN(Number(text)) ? text : Number(text);
}

/** Every value at the path; none when it leads nowhere. */
export function evaluate(path: JsonPath, root: unknown): unknown[] {
  return path.reduce<unknown[]>(
    (values, step) => values.flatMap((value) => apply(step, value)),
    [root],
  );
}

function apply(step: Step, value: unknown): unknown[] {
  switch (step.kind) {
    case 'field':
      return isMap(value) && Object.hasOwn(value, step.name) ? present(value[step.name]) : [];
    case 'index':
      return Array.isArray(value) ? present(value.at(step.index)) : [];
    case 'slice':
      return Array.isArray(value) ? value.slice(step.from, step.to) : [];
    case 'all':
      return Array.isArray(value) ? value : isMap(value) ? Object.values(value) : [];
    case 'descend':
      return descend(value, step.name);
    case 'filter':
      return (Array.isArray(value) ? value : []).filter((item) => {
        const found = evaluate(step.path, item);
        if (step.value === undefined) return found.length > 0;
        return found.some((one) => compare(one, step.operator, step.value));
      });
  }
}

function descend(value: unknown, name: string): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => descend(item, name));
  if (!isMap(value)) return [];
  const here = Object.hasOwn(value, name) ? present(value[name]) : [];
  return [...here, ...Object.values(value).flatMap((part) => descend(part, name))];
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  if (typeof left !== 'number' || typeof right !== 'number') return false;
  if (operator === '<') return left < right;
  if (operator === '>') return left > right;
  return operator === '<=' ? left <= right : left >= right;
}

function present(value: unknown): unknown[] {
  return value === undefined || value === null ? [] : [value];
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
