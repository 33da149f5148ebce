/**
 * A short hash for names and labels: of the template of a replica set or of the data of a revision.
 * Equal for equal values; a collision count changes it. Pure.
 */

/** Neither vowels nor characters that look alike, so that names contain no words. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** @param value JSON; the order of its fields does not matter. */
export function nameHash(value: unknown, collisionCount: number | undefined): string {
  let hash = fnv1a(canonical(value), 0x811c9dc5);
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

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`);
  return `{${fields.join(',')}}`;
}
