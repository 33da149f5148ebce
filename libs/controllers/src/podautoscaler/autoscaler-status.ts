/** Conditions of autoscalers. Pure. */
import { conditionOf, formatTime } from '@orch/apimachinery';
import type { HorizontalPodAutoscalerCondition } from '@orch/types/autoscaling/v2beta2';

export type ConditionType = 'AbleToScale' | 'ScalingActive' | 'ScalingLimited';

/** The conditions of one computation: `set` replaces one, the time changes with the status. */
export class AutoscalerConditions {
  private conditions: readonly HorizontalPodAutoscalerCondition[];

  constructor(
    conditions: readonly HorizontalPodAutoscalerCondition[] | undefined,
    private readonly nowMs: number,
  ) {
    this.conditions = conditions ?? [];
  }

  get list(): HorizontalPodAutoscalerCondition[] {
    return [...this.conditions];
  }

  set(type: ConditionType, isTrue: boolean, reason: string, message: string): void {
    const status = isTrue ? 'True' : 'False';
    const old = conditionOf(this.conditions, type);
    const lastTransitionTime =
      old?.status === status ? old.lastTransitionTime : formatTime(this.nowMs);
    const condition = { type, status, lastTransitionTime, reason, message };
    this.conditions = old
      ? this.conditions.map((other) => (other === old ? condition : other))
      : [...this.conditions, condition];
  }
}
