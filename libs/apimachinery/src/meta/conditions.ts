/** Lists of conditions, one of each type, as the status of most kinds has one. */

export function conditionOf<C extends { readonly type?: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** False as well when there is no such condition, or nobody knows. */
export function isConditionTrue(
  conditions: readonly { readonly type?: string; readonly status?: string }[] | undefined,
  type: string,
): boolean {
  return conditionOf(conditions, type)?.status === 'True';
}
