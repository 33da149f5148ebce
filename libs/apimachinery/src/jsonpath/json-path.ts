/**
 * Evaluates JSON paths: which values of an object a path finds. With the strict syntax, which is
 * that of printer columns, a path that does not fit the object (an index past the end, a filter of
 * a value that is not a list) finds nothing at all. With the relaxed syntax, which is that of
 * command lines, a step skips the values that it does not fit.
 */
import { jsonPathStepCountMax } from '../limits.js';
import { isJsonObject } from '../patch/json-values.js';
import { type JsonPathSyntax, parseJsonPath } from './json-path-parser.js';
import type { ComparisonOperator, Step, Steps } from './json-path-steps.js';
import { StepBudget, TooManyStepsError } from './step-budget.js';

export type { JsonPathSyntax };

export interface JsonPath {
  /** The values at the path, in order. Includes nulls with the strict syntax only. */
  find(object: unknown): unknown[];
}

/** Parses a path. Throws JsonPathError. */
export function readJsonPath(path: string, syntax: JsonPathSyntax = 'strict'): JsonPath {
  const steps = parseJsonPath(path, syntax);
  return {
    find(object) {
      try {
        return new Finder(syntax).follow([object], steps) ?? [];
      } catch (error) {
        if (error instanceof TooManyStepsError) return [];
        throw error;
      }
    },
  };
}

/** Undefined if the path does not fit. */
type Found = unknown[] | undefined;

class Finder {
  private readonly isRelaxed: boolean;
  private readonly budget: StepBudget;

  constructor(syntax: JsonPathSyntax) {
    this.isRelaxed = syntax === 'relaxed';
    // The work of a command line is its user's own, so it has no bound.
    this.budget = new StepBudget(this.isRelaxed ? Number.POSITIVE_INFINITY : jsonPathStepCountMax);
  }

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
        return values.flatMap((value) => this.field(value, step.name));
      case 'every':
        return this.join(values, membersOf);
      case 'descend':
        return this.descendants(values);
      case 'slice':
        return this.join(values, (value) => (this.isRelaxed ? clamped : sliced)(value, step));
      case 'union':
        return this.join(step.paths, (path) => this.follow(values, path));
      case 'exists':
        return this.join(values, (list) =>
          filtered(list, (element) => (this.follow([element], step.path) ?? []).length > 0),
        );
      case 'compare':
        return this.join(values, (list) => filtered(list, (element) => this.holds(element, step)));
    }
  }

  private field(value: unknown, name: string): unknown[] {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return [];
    const found = value[name];
    return found === null && this.isRelaxed ? [] : [found];
  }

  /** The concatenated results. Undefined if one item does not fit, unless the syntax is relaxed. */
  private join<T>(items: readonly T[], find: (item: T) => Found): Found {
    const all: unknown[] = [];
    for (const item of items) {
      const found = find(item);
      if (!found && this.isRelaxed) continue;
      if (!found) return undefined;
      this.budget.spend(found.length);
      for (const value of found) all.push(value);
    }
    return all;
  }

  /** Every non-empty object and list, outer ones first. */
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
    if (this.isRelaxed) {
      // Values that cannot be compared differ.
      const holds = (a: unknown, other: unknown) =>
        compared(a, other, step.operator) ?? step.operator === '!=';
      return (
        left?.some((leftValue) => right?.some((other) => holds(leftValue, other)) ?? false) ?? false
      );
    }
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

/** As `sliced`, with bounds that reach past the ends of the list. */
function clamped(list: unknown, step: Extract<Step, { kind: 'slice' }>): Found {
  if (!Array.isArray(list)) return undefined;
  return list.slice(step.from, step.to).filter((_, index) => index % step.stride === 0);
}

/**
 * The elements for which `keep` returns true. Undefined if it returns undefined for one of them.
 */
function filtered(list: unknown, keep: (element: unknown) => boolean | undefined): Found {
  if (!Array.isArray(list)) return undefined;
  const found: unknown[] = [];
  for (const element of list) {
    const keeps = keep(element);
    if (keeps === undefined) return undefined;
    if (keeps) found.push(element);
  }
  return found;
}

/** Undefined if the values are not comparable: types that differ, an order of booleans, objects. */
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
