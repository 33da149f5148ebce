/** Lists of conditions, one of each type. Pure. */

export interface ConditionFacts {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export function withoutCondition<C extends { type?: string }>(
  conditions: readonly C[],
  type: string,
): C[] {
  return conditions.filter((condition) => condition.type !== type);
}
