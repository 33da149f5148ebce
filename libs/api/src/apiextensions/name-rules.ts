/** Validates the names of a kind: each is a DNS label; kinds may have capitals. */
import { checkDns1035Label, type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { CustomResourceDefinitionNames } from '@orch/types/apiextensions/v1beta1';
import { invalidEach } from '../shared/rules.js';

/** Names that a spec must have; a status may omit them. */
export function requiredNames(
  names: CustomResourceDefinitionNames | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  return (['plural', 'singular', 'kind', 'listKind'] as const)
    .filter((field) => !names?.[field])
    .map((field) => fieldError.required(fieldPath.child(field)));
}

export function namesErrors(
  names: CustomResourceDefinitionNames | undefined,
  fieldPath: FieldPath,
): FieldError[] {
  const { plural, singular, kind, listKind, shortNames = [], categories = [] } = names ?? {};
  return [
    ...(plural ? labelErrors(plural, fieldPath.child('plural')) : []),
    ...(singular ? labelErrors(singular, fieldPath.child('singular')) : []),
    ...kindErrors(kind, fieldPath.child('kind')),
    ...kindErrors(listKind, fieldPath.child('listKind')),
    ...shortNames.flatMap((name, index) =>
      labelErrors(name, fieldPath.child('shortNames').index(index)),
    ),
    ...(kind && kind === listKind
      ? [
          fieldError.invalid(
            fieldPath.child('listKind'),
            listKind,
            'kind and listKind may not be the same',
          ),
        ]
      : []),
    ...categories.flatMap((name, index) =>
      labelErrors(name, fieldPath.child('categories').index(index)),
    ),
  ];
}

/** All violations of the label format as one error. */
export function labelErrors(value: string, fieldPath: FieldPath): FieldError[] {
  const messages = checkDns1035Label(value);
  return messages.length === 0 ? [] : [fieldError.invalid(fieldPath, value, messages.join(','))];
}

function kindErrors(kind: string | undefined, fieldPath: FieldPath): FieldError[] {
  if (!kind) return [];
  const messages = checkDns1035Label(kind.toLowerCase());
  return invalidEach(
    fieldPath,
    kind,
    messages.length === 0
      ? []
      : [`may have mixed case, but should otherwise match: ${messages.join(',')}`],
  );
}
