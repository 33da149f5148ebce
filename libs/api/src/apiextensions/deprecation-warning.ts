/**
 * The warning for clients of a deprecated version: the text of the definition or the standard one.
 */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '@orch/types/apiextensions/v1beta1';
import { compareVersions } from './version-order.js';

const warningBytesMax = 256;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

export function deprecationWarningErrors(
  { deprecated, deprecationWarning: text }: CustomResourceDefinitionVersion,
  fieldPath: FieldPath,
): FieldError[] {
  if (text === undefined) return [];
  const refusal = (detail: string) => fieldError.invalid(fieldPath, text, detail);
  if (!deprecated) return [refusal('can only be set for deprecated versions')];
  const errors: FieldError[] = [];
  if (Buffer.byteLength(text) > warningBytesMax) {
    errors.push(refusal(`must be <= ${warningBytesMax} characters long`));
  }
  if (text === '') errors.push(refusal('must not be an empty string'));
  let at8 = 0;
  for (const character of text) {
    if (!printable.test(character)) {
      errors.push(
        refusal(
          `must only contain printable UTF-8 characters; non-printable character found at index ${at8}`,
        ),
      );
      break;
    }
    at8 += Buffer.byteLength(character);
  }
  return errors;
}

/** Undefined for versions that are not deprecated. */
export function deprecationText(
  { group, names, versions = [] }: CustomResourceDefinitionSpec,
  { name, deprecated, deprecationWarning }: CustomResourceDefinitionVersion,
): string | undefined {
  if (!deprecated) return undefined;
  if (deprecationWarning !== undefined) return deprecationWarning;
  const [better] = versions
    .filter((other) => other.served && !other.deprecated)
    .map((other) => other.name)
    .filter((other) => compareVersions(other, name) < 0)
    .sort(compareVersions);
  const text = `${group}/${name} ${names.kind} is deprecated`;
  return better === undefined ? text : `${text}; use ${group}/${better} ${names.kind}`;
}
