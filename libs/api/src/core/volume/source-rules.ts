/**
 * Validates objects of which exactly one source must be set, such as volumes. A second source is
 * rejected without further checks.
 */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import { requireFields } from './volume-sources.js';

export interface SourceRule<Holder> {
  readonly field: keyof Holder & string;
  /** Name of the source in its errors. */
  readonly errorName: string;
  /** Name in the error for a further source; undefined if it is validated like the first. */
  readonly repeatedName: string | undefined;
  readonly validate: (
    holder: Holder,
    fieldPath: FieldPath,
    volumeName: string,
  ) => readonly FieldError[];
}

/** Constructors of rules for the sources of `Holder`. */
export function sourceRules<Holder extends object>() {
  function source<Field extends keyof Holder & string>(
    field: Field,
    validate: (
      source: NonNullable<Holder[Field]>,
      fieldPath: FieldPath,
      volumeName: string,
    ) => readonly FieldError[],
    names: Partial<Pick<SourceRule<Holder>, 'errorName' | 'repeatedName'>> = {},
  ): SourceRule<Holder> {
    return {
      field,
      errorName: field,
      repeatedName: field,
      ...names,
      validate: (holder, fieldPath, volumeName) => {
        const value = holder[field];
        return value === undefined || value === null ? [] : validate(value, fieldPath, volumeName);
      },
    };
  }

  /** A source with required fields only. */
  function requires<Field extends keyof Holder & string>(
    field: Field,
    fields: readonly (keyof NonNullable<Holder[Field]> & string)[],
    names?: Partial<Pick<SourceRule<Holder>, 'errorName' | 'repeatedName'>>,
  ): SourceRule<Holder> {
    return source(
      field,
      (value, fieldPath) => requireFields<NonNullable<Holder[Field]>>(value, fields, fieldPath),
      names,
    );
  }

  return { source, requires };
}

/** Validates the first source that is set, and rejects the others. `rules` is the order. */
export function validateOneSource<Holder>(
  rules: readonly SourceRule<Holder>[],
  holder: Holder,
  fieldPath: FieldPath,
  volumeName: string,
): FieldError[] {
  const given = rules.filter(({ field }) => holder[field] !== undefined && holder[field] !== null);
  if (given.length === 0) return [fieldError.required(fieldPath, 'must specify a volume type')];
  return given.flatMap(({ validate, errorName, repeatedName }, index) =>
    index === 0 || repeatedName === undefined
      ? validate(holder, fieldPath.child(errorName), volumeName)
      : [
          fieldError.forbidden(
            fieldPath.child(repeatedName),
            'may not specify more than 1 volume type',
          ),
        ],
  );
}
