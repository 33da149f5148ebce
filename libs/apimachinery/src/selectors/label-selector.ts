/**
 * Label selectors, from the query form and from LabelSelector objects, compiled once into a match
 * function. An object without a label map has no labels.
 */
import type { LabelSelector as LabelSelectorObject } from '@orch/types/meta/v1';
import { checkLabelValue, checkQualifiedName } from '../names/formats.js';
import { type FieldError, fieldError } from '../status/field-error.js';
import type { FieldPath } from '../status/field-path.js';
import { parseRequirements } from './label-parser.js';
import {
  compileRequirement,
  type Labels,
  makeRequirement,
  type Requirement,
  requirementText,
  SelectorError,
  type SelectorOperator,
} from './requirement.js';

export interface LabelSelector {
  readonly requirements: readonly Requirement[];
  /** Selects every object. */
  readonly everything: boolean;
  /** Selects no object. */
  readonly nothing: boolean;
  matches(labels: Labels | undefined): boolean;
  /** The query form. */
  toString(): string;
}

const noLabels: Labels = {};

function fromRequirements(requirements: readonly Requirement[]): LabelSelector {
  const tests = requirements.map(compileRequirement);
  const text = requirements.map(requirementText).join(',');
  return {
    requirements,
    everything: tests.length === 0,
    nothing: false,
    matches: (labels) => tests.every((test) => test(labels ?? noLabels)),
    toString: () => text,
  };
}

export const everyLabelSelector: LabelSelector = fromRequirements([]);

const noLabelSelector: LabelSelector = {
  requirements: [],
  everything: false,
  nothing: true,
  matches: () => false,
  toString: () => '<none>',
};

/** From the query form; empty selects everything. Throws SelectorError. */
export function parseLabelSelector(text: string): LabelSelector {
  return text === '' ? everyLabelSelector : fromRequirements(parseRequirements(text));
}

const objectOperators: Readonly<Record<string, SelectorOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/** From a LabelSelector object: absent selects nothing, empty everything. Throws SelectorError. */
export function labelSelectorFromObject(object: LabelSelectorObject | undefined): LabelSelector {
  if (object === undefined) return noLabelSelector;
  const requirements = Object.entries(object.matchLabels ?? {}).map(([key, value]) =>
    makeRequirement(key, '=', [value]),
  );
  for (const expression of object.matchExpressions ?? []) {
    const operator = objectOperators[expression.operator ?? ''];
    if (!operator) {
      throw new SelectorError(`"${expression.operator}" is not a valid pod selector operator`);
    }
    requirements.push(makeRequirement(expression.key ?? '', operator, expression.values ?? []));
  }
  requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return fromRequirements(requirements);
}

/** From a plain map, such as a service's selector: absent or empty selects nothing. */
export function labelSelectorFromMap(map: Labels | undefined): LabelSelector {
  if (map === undefined || Object.keys(map).length === 0) return noLabelSelector;
  return labelSelectorFromObject({ matchLabels: { ...map } });
}

/** Errors in a map of labels; all are reported at the map's path. */
export function validateLabels(labels: Labels | undefined, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    errors.push(
      ...checkQualifiedName(key).map((message) => fieldError.invalid(fieldPath, key, message)),
    );
    errors.push(
      ...checkLabelValue(value).map((message) => fieldError.invalid(fieldPath, value, message)),
    );
  }
  return errors;
}

/** Errors in a LabelSelector object. */
export function validateLabelSelector(
  selector: LabelSelectorObject | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  if (selector === undefined) return [];
  const errors = validateLabels(selector.matchLabels, fieldPath.child('matchLabels'));
  for (const [index, expression] of (selector.matchExpressions ?? []).entries()) {
    errors.push(
      ...validateExpression(expression, fieldPath.child('matchExpressions').index(index)),
    );
  }
  return errors;
}

type Expression = NonNullable<LabelSelectorObject['matchExpressions']>[number];

function validateExpression(expression: Expression, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const valueCount = expression.values?.length ?? 0;
  switch (expression.operator) {
    case 'In':
    case 'NotIn':
      if (valueCount === 0) {
        errors.push(
          fieldError.required(
            fieldPath.child('values'),
            "must be specified when `operator` is 'In' or 'NotIn'",
          ),
        );
      }
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (valueCount > 0) {
        errors.push(
          fieldError.forbidden(
            fieldPath.child('values'),
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
          ),
        );
      }
      break;
    default:
      errors.push(
        fieldError.invalid(
          fieldPath.child('operator'),
          expression.operator ?? '',
          'not a valid selector operator',
        ),
      );
  }
  const key = expression.key ?? '';
  errors.push(
    ...checkQualifiedName(key).map((message) =>
      fieldError.invalid(fieldPath.child('key'), key, message),
    ),
  );
  return errors;
}
