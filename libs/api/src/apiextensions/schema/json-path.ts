/**
 * JSON paths of printer columns: what they find in an object. A path that does not fit the object, such as
 * an index beyond the end or a filter of something that is no list, finds nothing at all.
 */
import { isJsonObject } from '@orch/apimachinery';
import { parseJsonPath } from './json-path-parser.js';
import type { ComparisonOperator, Step, Steps } from './json-path-steps.js';
import { jsonPathStepCountMax } from './limits.js';
import { StepBudget, TooManyStepsError } from './step-budget.js';
import { numberText } from './value-text.js';

export interface JsonPath {
  /** In order; nulls included. */
  find(object: unknown): unknown[];
}

/** Throws JsonPathError. */
export function readJsonPath(path: string): JsonPath {
  const steps = parseJsonPath(path);
  return {
    find(object) {
      try {
        return new Finder().follow([object], steps) ?? [];
      } catch (error) {
        if (error instanceof TooManyStepsError) return [];
        throw error;
      }
    },
  };
}

/** Undefined: the path does not fit. */
type Found = unknown[] | undefined;

class Finder {
  private readonly budget = new StepBudget(jsonPathStepCountMax);

  /** Throws TooManyStepsError. */
  follow(start: unknown[], steps: Steps): Found {
    let values: Found = start;
    for (const step of steps) {
      this.budget.spend(values.length + 1);
      values = this.take(values, step);
      if (!values) return undefined;
    }
    return values;
  }

  private take(values: unknown[], step: Step): Found {
    switch (step.kind) {
      case 'literal':
        return values.map(() => step.value);
      case 'field':
        return values.flatMap((value) =>
          isJsonObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [],
        );
      case 'every':
        return this.join(values, membersOf);
      case 'descend':
        return this.descendants(values);
      case 'slice':
        return this.join(values, (value) => sliced(value, step));
      case 'union':
        return this.join(step.paths, (path) => this.follow(values, path));
      case 'exists':
        return this.join(values, (list) =>
          kept(list, (element) => (this.follow([element], step.path) ?? []).length > 0),
        );
      case 'compare':
        return this.join(values, (list) => kept(list, (element) => this.holds(element, step)));
    }
  }

  /** What is found for each, one after the other; undefined as soon as one does not fit. */
  private join<T>(items: readonly T[], find: (item: T) => Found): Found {
    const all: unknown[] = [];
    for (const item of items) {
      const found = find(item);
      if (!found) return undefined;
      this.budget.spend(found.length);
      for (const value of found) all.push(value);
    }
    return all;
  }

  /** Every object and list that holds something, those that hold others first. */
  private descendants(values: readonly unknown[]): unknown[] {
    const found: unknown[] = [];
    const open = values.toReversed();
    while (open.length > 0) {
      const value = open.pop();
      const members = membersOf(value);
      if (members.length === 0) continue;
      this.budget.spend(members.length);
      found.push(value);
      for (let index = members.length - 1; index >= 0; index -= 1) open.push(members[index]);
    }
    return found;
  }

  private holds(element: unknown, step: Extract<Step, { kind: 'compare' }>) {
    const left = this.follow([element], step.left);
    const right = this.follow([element], step.right);
    if (left?.length !== 1 || right?.length !== 1) return undefined;
    return compared(left[0], right[0], step.operator);
  }
}

function membersOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

function sliced(list: unknown, step: Extract<Step, { kind: 'slice' }>): Found {
  if (list === null) return [];
  if (!Array.isArray(list)) return undefined;
  const { length } = list;
  const from = step.from < 0 ? step.from + length : step.from;
  const end = step.to ?? length;
  const to = end < 0 ? end + length : end;
  if (from < 0 || to < 0) return undefined;
  if (from !== to && (from >= length || to > length)) return undefined;
  return list.slice(from, to).filter((_, index) => index % step.stride === 0);
}

/** Undefined: whether a value is to be kept cannot be said. */
function kept(list: unknown, keep: (element: unknown) => boolean | undefined): Found {
  if (!Array.isArray(list)) return undefined;
  const found: unknown[] = [];
  for (const element of list) {
    const keeps = keep(element);
    if (keeps === undefined) return undefined;
    if (keeps) found.push(element);
  }
  return found;
}

/** Only values of the same kind can be compared, and of truth values only whether they are the same. */
function compared(left: unknown, right: unknown, operator: ComparisonOperator) {
  if (typeof left !== typeof right) return undefined;
  const isOrdered =
    (typeof left === 'string' && typeof right === 'string') ||
    (typeof left === 'number' && typeof right === 'number');
  if (!isOrdered && typeof left !== 'boolean') return undefined;
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  if (!isOrdered) return undefined;
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}

/** A found value as the text of a cell. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return `[${value.map(cellText).join(' ')}]`;
  if (!isJsonObject(value)) return String(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${name}:${cellText(value[name])}`);
  return `map[${members.join(' ')}]`;
}
