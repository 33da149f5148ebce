/** Maps fields to their feature gates, by type and field, from the definitions of the kinds. */
import { schemaType, type TypeName } from '@orch/apimachinery';
import type { KindEntry } from './catalogue.js';
import type { Gate } from './fields.js';
import { canonical, fieldsOf, hasFields } from './shape.js';
import { typeNameOf } from './type-names.js';

export function gatesOf(kinds: readonly KindEntry[]): Map<string, Gate> {
  const gates = new Map<string, Gate>();
  for (const { definition } of kinds) {
    const stored = typeNameOf(definition.stored, definition.kind);
    for (const { gate, path, keys, off } of definition.gatedFields ?? []) {
      const place = fieldAt(stored, path.split('.'));
      if (place !== undefined && !gates.has(place)) {
        gates.set(place, { name: gate, isWhole: !keys && !off });
      }
    }
  }
  return gates;
}

/** `spec`, `containers[]`, `image` of a pod -> `core/v1.Container image`. */
function fieldAt(root: TypeName, path: readonly string[]): string | undefined {
  let type = root;
  for (const [index, step] of path.entries()) {
    const found = fieldsOf(type).find(({ field }) => field.name === step.replace('[]', ''));
    if (!found) return undefined;
    if (index === path.length - 1) return `${found.owner} ${found.field.name}`;
    if (found.field.ref === undefined) return undefined;
    type = canonical(found.field.ref);
    if (!hasFields(schemaType(type))) return undefined;
  }
  return undefined;
}
