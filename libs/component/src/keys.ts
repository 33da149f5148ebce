/**
 * The keys of an object whose type lists all of them; an object with more keys than its type, such
 * as one from a client, must not be passed.
 */
export function knownKeys<T extends object>(object: T): (keyof T & string)[] {
  return Object.keys(object) as (keyof T & string)[];
}
