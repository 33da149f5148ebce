/**
 * Validates values by a schema: types, formats, bounds, enums, members, elements and alternatives.
 * A schema is compiled once into one function. Own code instead of a JSON schema library, because
 * the interface defines the messages and the choice among failed alternatives, and patterns must
 * match in linear time.
 */
import {
  type FieldError,
  type FieldPath,
  fieldError,
  isJsonObject,
  TooManyStepsError,
} from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { canonicalText } from '../common/canonical-text.js';
import { extensionsOf } from '../common/extensions.js';
import { compileAlternatives } from './check-alternatives.js';
import { compileNumberCheck, compileTextCheck, stepsPerCharacter } from './check-scalars.js';
import { formatCheck } from './formats.js';
import { Outcome, type ValueCheck } from './outcome.js';

/** Compiles on first use: most parts of large schemas are never used. */
function lazyCheck(schema: JSONSchemaProps): ValueCheck {
  let check: ValueCheck | undefined;
  return (value, name, outcome) => {
    check ??= compileCheck(schema);
    check(value, name, outcome);
  };
}

export function compileCheck(schema: JSONSchemaProps): ValueCheck {
  const checkType = compileTypeCheck(schema);
  const checkAlternatives = compileAlternatives(schema, lazyCheck);
  const checkText = compileTextCheck(schema);
  const checkNumber = compileNumberCheck(schema);
  const checkList = compileListCheck(schema);
  const checkEnum = compileEnumCheck(schema);
  const checkObject = compileObjectCheck(schema);
  return (value, name, outcome) => {
    outcome.spend(1);
    checkType?.(value, name, outcome);
    if (value !== null) {
      checkAlternatives?.(value, name, outcome);
      if (typeof value === 'string') checkText?.(value, name, outcome);
      else if (typeof value === 'number') checkNumber(value, name, outcome);
      else if (Array.isArray(value)) checkList(value, name, outcome);
      // A type check counts as a match whatever its result, as upstream; not every schema has one.
      if (checkType) outcome.matchCount += 1;
    }
    checkEnum?.(value, name, outcome);
    if (isJsonObject(value)) checkObject?.(value, name, outcome);
  };
}

/** The errors of a value. */
export function checkErrors(check: ValueCheck, value: unknown, fieldPath: FieldPath): FieldError[] {
  const outcome = new Outcome();
  try {
    check(value, '', outcome);
  } catch (error) {
    if (!(error instanceof TooManyStepsError)) throw error;
    const field = fieldPath.toString() === '' ? '<nil>' : fieldPath;
    return [fieldError.invalid(field, '', 'takes too many steps to check against its schema')];
  }
  return outcome.errors(fieldPath);
}

type JsonType = 'null' | 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object';

/** Whole numbers beyond 64 bits are not integers. */
function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'string':
      return 'string';
    case 'number':
      return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'integer' : 'number';
    default:
      return 'object';
  }
}

function compileTypeCheck(schema: JSONSchemaProps): ValueCheck | undefined {
  const isIntOrString = extensionsOf(schema).intOrString === true;
  const types: string[] = isIntOrString ? ['integer', 'string'] : schema.type ? [schema.type] : [];
  const format = schema.format && formatCheck(schema.format) ? schema.format : undefined;
  if (types.length === 0 && format === undefined) return undefined;
  const isNullable = schema.nullable === true || types.length === 0;
  return (value, name, outcome) => {
    const actual = typeOf(value);
    const fits =
      types.includes(actual) ||
      (actual === 'integer' && types.includes('number')) ||
      (actual === 'null' && isNullable) ||
      (types.length === 0 && (actual === 'string' || actual === 'array'));
    if (fits) {
      outcome.matchCount += 1;
    } else if (
      format !== undefined &&
      actual !== 'null' &&
      actual !== 'string' &&
      actual !== 'array'
    ) {
      outcome.invalid(name, '', `must be of type ${format}: ""`);
    } else {
      outcome.invalid(name, actual, `must be of type ${types.join(',')}: "${actual}"`);
    }
  };
}

function compileEnumCheck({ enum: allowed }: JSONSchemaProps): ValueCheck | undefined {
  if (!allowed || allowed.length === 0) return undefined;
  const scalars = new Set(allowed.filter((value) => typeof value !== 'object' || value === null));
  const texts = new Set(allowed.map(canonicalText));
  const allowedTexts = allowed.map((value) =>
    typeof value === 'string' ? value : canonicalText(value),
  );
  const list = allowedTexts.join(' ');
  return (value, name, outcome) => {
    if (scalars.has(value)) return;
    const text = canonicalText(value);
    outcome.spend(text.length * stepsPerCharacter);
    if (!texts.has(text)) outcome.notOneOf(name, value, allowedTexts, list);
  };
}

function compileListCheck(schema: JSONSchemaProps) {
  const { items, minItems, maxItems, uniqueItems } = schema;
  const checkElement = items && !Array.isArray(items) ? lazyCheck(items) : undefined;
  return (list: readonly unknown[], name: string, outcome: Outcome) => {
    if (checkElement) for (const element of list) checkElement(element, name, outcome);
    const { length } = list;
    if (minItems !== undefined && length < minItems) {
      outcome.invalid(name, length, `should have at least ${minItems} items`);
    }
    if (maxItems !== undefined && length > maxItems) {
      outcome.invalid(name, length, `should have at most ${maxItems} items`);
    }
    if (uniqueItems) {
      const texts = list.map(canonicalText);
      for (const text of texts) outcome.spend(text.length * stepsPerCharacter);
      if (new Set(texts).size < length) {
        outcome.invalid(name, undefined, "shouldn't contain duplicates");
      }
    }
    outcome.matchCount += 1;
  };
}

type ObjectCheck = (value: Record<string, unknown>, name: string, outcome: Outcome) => void;

function compileObjectCheck(schema: JSONSchemaProps): ObjectCheck | undefined {
  const { minProperties, maxProperties, additionalProperties, required = [] } = schema;
  const properties = new Map(
    Object.entries(schema.properties ?? {}).map(([key, member]) => [key, lazyCheck(member)]),
  );
  const withDefault = new Set(
    Object.entries(schema.properties ?? {})
      .filter(([, member]) => member.default !== undefined && member.default !== null)
      .map(([key]) => key),
  );
  const checkOther =
    typeof additionalProperties === 'object' ? lazyCheck(additionalProperties) : undefined;
  return (value, name, outcome) => {
    const keys = Object.keys(value);
    const outOfBounds = sizeFault(keys.length, minProperties, maxProperties);
    if (outOfBounds) {
      outcome.invalid(name, outOfBounds.bound, outOfBounds.message);
      return;
    }
    if (checkOther || additionalProperties === false) {
      for (const key of keys) {
        if (properties.has(key)) continue;
        if (checkOther) checkOther(value[key], `${name}.${key}`, outcome);
        else outcome.fault(name, key, `${name}.${key} in body is a forbidden property`);
      }
    }
    for (const [key, checkMember] of properties) {
      if (!Object.hasOwn(value, key)) continue;
      checkMember(value[key], name === '' ? key : `${name}.${key}`, outcome);
    }
    for (const key of required) {
      if (!Object.hasOwn(value, key) && !withDefault.has(key)) outcome.required(`${name}.${key}`);
    }
  };
}

function sizeFault(size: number, min: number | undefined, max: number | undefined) {
  if (min !== undefined && size < min) {
    return { bound: min, message: `should have at least ${min} properties` };
  }
  if (max !== undefined && size > max) {
    return { bound: max, message: `should have at most ${max} properties` };
  }
  return undefined;
}
