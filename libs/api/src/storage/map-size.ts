/** How much a map of texts may hold. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';

/** Keys and values in all. Part of the interface. */
const mapBytesMax = 256 * 1024;

export function validateMapSize(
  map: Readonly<Record<string, string>>,
  at: FieldPath,
): FieldError[] {
  const byteCount = Object.entries(map).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return byteCount > mapBytesMax ? [fieldError.tooLong(at, mapBytesMax)] : [];
}
