/** Drops empty lists of fields that clients expect to be absent when empty. */
export function dropEmptyLists<T extends object>(object: T, ...fields: readonly (keyof T)[]): void {
  for (const field of fields) {
    const value = object[field];
    if (Array.isArray(value) && value.length === 0) delete object[field];
  }
}
