/** Rules of the names of a kind: each is a label; kinds may have capitals. */
import { checkDns1035Label, type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { CustomResourceDefinitionNames } from '@orch/types/apiextensions/v1beta1';
import { invalidEach } from '../shared/rules.js';

/** What a spec must say, a status need not. */
export function requiredNames(
  names: CustomResourceDefinitionNames | undefined,
  at: FieldPath,
): FieldError[] {
  return (['plural', 'singular', 'kind', 'listKind'] as const)
    .filter((field) => !names?.[field])
    .map((field) => fieldError.required(at.child(field)));
}

export function namesErrors(
  names: CustomResourceDefinitionNames | undefined,
  at: FieldPath,
): FieldError[] {
  const { plural, singular, kind, listKind, shortNames = [], categories = [] } = names ?? {};
  return [
    ...(plural ? labelErrors(plural, at.child('plural')) : []),
    ...(singular ? labelErrors(singular, at.child('singular')) : []),
    ...kindErrors(kind, at.child('kind')),
    ...kindErrors(listKind, at.child('listKind')),
    ...shortNames.flatMap((name, index) => labelErrors(name, at.child('shortNames').index(index))),
    ...(kind && kind === listKind
      ? [
          fieldError.invalid(
            at.child('listKind'),
            listKind,
            'kind and listKind may not be the same',
          ),
        ]
      : []),
    ...categories.flatMap((name, index) => labelErrors(name, at.child('categories').index(index))),
  ];
}

/** All that is wrong with a label, in one error. */
export function labelErrors(value: string, at: FieldPath): FieldError[] {
  const messages = checkDns1035Label(value);
  return messages.length === 0 ? [] : [fieldError.invalid(at, value, messages.join(','))];
}

function kindErrors(kind: string | undefined, at: FieldPath): FieldError[] {
  if (!kind) return [];
  const messages = checkDns1035Label(kind.toLowerCase());
  return invalidEach(
    at,
    kind,
    messages.length === 0
      ? []
      : [`may have mixed case, but should otherwise match: ${messages.join(',')}`],
  );
}
