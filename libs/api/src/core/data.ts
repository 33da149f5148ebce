/** Rules that ConfigMap and Secret share: the size of the content and the `immutable` field. */
import { type FieldError, fieldError, path, semanticallyEqual } from '@orch/apimachinery';

/** Maximum total size of all values of one object, decoded. Part of the interface. */
export const dataBytesMax = 1024 * 1024;

/** Number of bytes that a base64 text encodes. */
export function base64ByteCount(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor(text.length / 4) * 3 - padding);
}

interface Freezable {
  readonly immutable?: boolean;
}

/** Once `immutable` is set, neither it nor the content may change. */
export function validateFrozen<T extends Freezable>(
  object: T,
  old: T,
  fields: readonly (keyof T & string)[],
): FieldError[] {
  if (old.immutable !== true) return [];
  const detail = 'field is immutable when `immutable` is set';
  const errors: FieldError[] = [];
  if (object.immutable !== true) errors.push(fieldError.forbidden(path('immutable'), detail));
  for (const field of fields) {
    if (!sameContent(object[field], old[field])) {
      errors.push(fieldError.forbidden(path(field), detail));
    }
  }
  return errors;
}

function sameContent(a: unknown, b: unknown): boolean {
  return semanticallyEqual(a ?? {}, b ?? {});
}
