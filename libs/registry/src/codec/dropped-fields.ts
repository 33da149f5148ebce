/** The fields of a value that a conversion has dropped. */
import { isJsonObject } from '@orch/apimachinery';

const fieldsMax = 32;

/**
 * Paths such as `spec.list[0].name`, at most a fixed number. `kept` is `value` with fields taken
 * out.
 */
export function droppedFields(value: unknown, kept: unknown): string[] {
  const found: string[] = [];
  walk(value, kept, '', found);
  return found;
}

function walk(value: unknown, kept: unknown, path: string, found: string[]): void {
  if (found.length >= fieldsMax) return;
  if (Array.isArray(value) && Array.isArray(kept)) {
    for (const [index, element] of value.entries()) {
      walk(element, kept[index], `${path}[${index}]`, found);
    }
  } else if (isJsonObject(value) && isJsonObject(kept)) {
    for (const [name, member] of Object.entries(value)) {
      const at = path === '' ? name : `${path}.${name}`;
      if (Object.hasOwn(kept, name)) walk(member, kept[name], at, found);
      // A null that may not be is no field of its own.
      else if (member !== null && found.length < fieldsMax) found.push(at);
    }
  }
}
