/** Lists that stand in every object and are empty come back as if they had never been sent. */
export function dropEmptyLists<T extends object>(object: T, ...fields: readonly (keyof T)[]): void {
  for (const field of fields) {
    const value = object[field];
    if (Array.isArray(value) && value.length === 0) delete object[field];
  }
}
