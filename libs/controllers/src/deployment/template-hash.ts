/**
 * The short name of a pod template: a label on its pods and the end of its replica set's name. Stable
 * for equal templates; a collision count makes another name of it. Pure.
 */
import type { PodTemplateSpec } from '@orch/types/core/v1';

/** No vowels and nothing that is taken for another, so that no words come out. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

export const templateHashLabel = 'pod-template-hash';

export function templateHash(
  template: PodTemplateSpec,
  collisionCount: number | undefined,
): string {
  let hash = fnv1a(canonical(template), 0x811c9dc5);
  if (collisionCount !== undefined) hash = fnv1a(`#${collisionCount}`, hash);
  return Array.from(String(hash), (digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join(
    '',
  );
}

function fnv1a(text: string, start: number): number {
  let hash = start;
  for (const byte of Buffer.from(text, 'utf8')) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** JSON with sorted keys, so that the order of fields does not matter. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`);
  return `{${fields.join(',')}}`;
}
