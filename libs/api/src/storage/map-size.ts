/** Limits the size of a map of strings. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';

/** Maximum total size of keys and values. Part of the interface. */
const mapBytesMax = 256 * 1024;

export function validateMapSize(
  map: Readonly<Record<string, string>>,
  fieldPath: FieldPath,
): FieldError[] {
  const byteCount = Object.entries(map).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return byteCount > mapBytesMax ? [fieldError.tooLong(fieldPath, mapBytesMax)] : [];
}
