/** Helpers for condition lists, which hold one condition per type. */

export function conditionOf<C extends { readonly type?: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  for (const condition of conditions ?? []) if (condition.type === type) return condition;
  return undefined;
}

/** False if the condition is missing or its status is `Unknown`. */
export function isConditionTrue(
  conditions: readonly { readonly type?: string; readonly status?: string }[] | undefined,
  type: string,
): boolean {
  return conditionOf(conditions, type)?.status === 'True';
}
