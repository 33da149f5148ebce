/** Fields of a value that its type does not have; decoding drops them. */
import { isJsonObject, objectDepthMax, schemaType, type TypeDescriptor } from '@orch/apimachinery';

const unknownFieldsMax = 32;

/**
 * Paths such as `spec.containers[0].imag`; at most a fixed number of them, and none below the
 * maximum depth of objects: decoding rejects deeper values.
 */
export function unknownFields(type: string, value: unknown): string[] {
  const found: string[] = [];
  walk(schemaType(type), value, { path: '', depth: 0 }, found);
  return found.slice(0, unknownFieldsMax);
}

interface Member {
  readonly ref: string | undefined;
  readonly cardinality: 'list' | 'map' | undefined;
}

const membersByType = new WeakMap<TypeDescriptor, ReadonlyMap<string, Member>>();

function membersOf(descriptor: TypeDescriptor): ReadonlyMap<string, Member> {
  const known = membersByType.get(descriptor);
  if (known) return known;
  const members = new Map<string, Member>();
  if (descriptor.typeMeta) {
    for (const name of ['kind', 'apiVersion']) {
      members.set(name, { ref: undefined, cardinality: undefined });
    }
  }
  for (const field of descriptor.fields) {
    if (field.inline && field.ref) {
      for (const [name, member] of membersOf(schemaType(field.ref))) members.set(name, member);
    } else {
      const ref = field.kind === 'message' ? field.ref : undefined;
      members.set(field.name, { ref, cardinality: field.cardinality });
    }
  }
  membersByType.set(descriptor, members);
  return members;
}

interface Place {
  readonly path: string;
  readonly depth: number;
}

function walk(descriptor: TypeDescriptor, value: unknown, at: Place, found: string[]): void {
  if (descriptor.encoding || !isJsonObject(value) || found.length >= unknownFieldsMax) return;
  if (at.depth > objectDepthMax) return;
  const members = membersOf(descriptor);
  for (const [name, member] of Object.entries(value)) {
    const path = at.path === '' ? name : `${at.path}.${name}`;
    const field = members.get(name);
    if (!field) found.push(path);
    else if (field.ref !== undefined) {
      walkMember(field, member, { path, depth: at.depth + 1 }, found);
    }
  }
}

function walkMember(member: Member, value: unknown, at: Place, found: string[]): void {
  const descriptor = schemaType(member.ref!);
  const below = (step: string): Place => ({ path: at.path + step, depth: at.depth });
  if (member.cardinality === 'list' && Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      walk(descriptor, element, below(`[${index}]`), found);
    }
  } else if (member.cardinality === 'map' && isJsonObject(value)) {
    for (const [key, element] of Object.entries(value)) {
      walk(descriptor, element, below(`.${key}`), found);
    }
  } else walk(descriptor, value, at, found);
}
