/**
 * One requirement of a label selector: validated at construction, then matched without allocation.
 */
import { checkLabelValue, checkQualifiedName } from '../names/formats.js';
import {
  aggregateMessages,
  type FieldError,
  fieldError,
  fieldErrorMessage,
} from '../status/field-error.js';

export type SelectorOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export type Labels = Readonly<Record<string, string>>;

export interface Requirement {
  readonly key: string;
  readonly operator: SelectorOperator;
  /** Sorted. */
  readonly values: readonly string[];
}

/** An invalid selector or requirement; the message has the wording of the interface. */
export class SelectorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SelectorError';
  }
}

const integerPattern = /^[+-]?\d{1,19}$/;

/** Throws SelectorError if key, operator and values do not fit together. */
export function makeRequirement(
  key: string,
  operator: SelectorOperator,
  values: readonly string[],
): Requirement {
  const errors = requirementErrors(key, operator, values);
  if (errors.length > 0) throw new SelectorError(aggregateMessages(errors.map(fieldErrorMessage)));
  return { key, operator, values: [...new Set(values)].sort() };
}

/** Throws SelectorError for a key that is not a label key. */
export function checkLabelKey(key: string): void {
  const messages = checkQualifiedName(key);
  if (messages.length > 0) {
    throw new SelectorError(
      fieldErrorMessage(fieldError.invalid('<nil>', key, messages.join('; '))),
    );
  }
}

function requirementErrors(
  key: string,
  operator: SelectorOperator,
  values: readonly string[],
): FieldError[] {
  const errors: FieldError[] = [];
  const keyMessages = checkQualifiedName(key);
  if (keyMessages.length > 0) {
    errors.push(fieldError.invalid('key', key, keyMessages.join('; ')));
  }
  errors.push(...operatorErrors(operator, values));
  for (const [index, value] of values.entries()) {
    const messages = checkLabelValue(value);
    if (messages.length > 0) {
      errors.push(fieldError.invalid(`values[${index}][${key}]`, value, messages.join('; ')));
    }
  }
  return errors;
}

function operatorErrors(operator: SelectorOperator, values: readonly string[]): FieldError[] {
  const refuse = (detail: string) => [fieldError.invalid('values', [...values], detail)];
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length > 0
        ? []
        : refuse("for 'in', 'notin' operators, values set can't be empty");
    case '=':
    case '==':
    case '!=':
      return values.length === 1
        ? []
        : refuse('exact-match compatibility requires one single value');
    case 'exists':
    case '!':
      return values.length === 0
        ? []
        : refuse('values set must be empty for exists and does not exist');
    case 'gt':
    case 'lt':
      if (values.length !== 1) {
        return refuse("for 'Gt', 'Lt' operators, exactly one value is required");
      }
      return values.flatMap((value, index) =>
        integerPattern.test(value)
          ? []
          : [
              fieldError.invalid(
                `values[${index}]`,
                value,
                "for 'Gt', 'Lt' operators, the value must be an integer",
              ),
            ],
      );
  }
}

/** Replaces a label name that cannot be a property access. */
const unusedKey = 'label';

/** Compiles the requirement to a function of an object's labels. */
export function compileRequirement(requirement: Requirement): (labels: Labels) => boolean {
  const { key, operator } = requirement;
  const only = requirement.values[0] ?? '';
  const values = new Set(requirement.values);
  // A label may have the name of an inherited property; such names take a slower path.
  if (key in Object.prototype) {
    const holds = compileRequirement({ ...requirement, key: unusedKey });
    return (labels) => holds(Object.hasOwn(labels, key) ? { [unusedKey]: labels[key]! } : {});
  }
  switch (operator) {
    case '=':
    case '==':
      return (labels) => labels[key] === only;
    case '!=':
      return (labels) => labels[key] !== only;
    case 'in':
      return (labels) => labels[key] !== undefined && values.has(labels[key]);
    case 'notin':
      return (labels) => labels[key] === undefined || !values.has(labels[key]);
    case 'exists':
      return (labels) => labels[key] !== undefined;
    case '!':
      return (labels) => labels[key] === undefined;
    case 'gt':
      return compare(key, only, (value, bound) => value > bound);
    case 'lt':
      return compare(key, only, (value, bound) => value < bound);
  }
}

function compare(
  key: string,
  bound: string,
  holds: (value: bigint, bound: bigint) => boolean,
): (labels: Labels) => boolean {
  const limit = BigInt(bound.replace(/^\+/, ''));
  return (labels) => {
    const value = labels[key];
    return (
      value !== undefined &&
      integerPattern.test(value) &&
      holds(BigInt(value.replace(/^\+/, '')), limit)
    );
  };
}

/** The requirement in query form. */
export function requirementText({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    case 'gt':
      return `${key}>${values[0]}`;
    case 'lt':
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}
