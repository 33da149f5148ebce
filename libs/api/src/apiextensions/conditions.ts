/** Conditions of a definition: names accepted, established, terminating. */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionStatus,
} from '@orch/types/apiextensions/v1beta1';

/** A condition without a transition time. */
export type Finding = Required<Omit<CustomResourceDefinitionCondition, 'lastTransitionTime'>>;

/**
 * Replaces the condition of the same type; the transition time changes only with the status.
 * Reports whether anything but the time changed.
 */
export function setCondition(
  status: CustomResourceDefinitionStatus,
  finding: Finding,
  now: string,
): boolean {
  const conditions = [...(status.conditions ?? [])];
  const at = conditions.findIndex(({ type }) => type === finding.type);
  const old = conditions[at];
  if (
    old &&
    old.status === finding.status &&
    old.reason === finding.reason &&
    old.message === finding.message
  ) {
    return false;
  }
  const since = old?.status === finding.status ? old.lastTransitionTime : now;
  const condition = {
    type: finding.type,
    status: finding.status,
    ...(since !== undefined && { lastTransitionTime: since }),
    reason: finding.reason,
    message: finding.message,
  };
  if (at < 0) conditions.push(condition);
  else conditions[at] = condition;
  status.conditions = conditions;
  return true;
}

/** Reports whether the condition existed. */
export function dropCondition(status: CustomResourceDefinitionStatus, type: string): boolean {
  const conditions = status.conditions ?? [];
  const left = conditions.filter((condition) => condition.type !== type);
  if (left.length === conditions.length) return false;
  status.conditions = left;
  return true;
}

/** The empty status in normal form. */
export function emptyStatus(): CustomResourceDefinitionStatus {
  return {
    conditions: null as unknown as CustomResourceDefinitionCondition[],
    acceptedNames: { plural: '', kind: '' },
    storedVersions: [],
  };
}

/** Returns the status for modification; creates it if missing. */
export function statusOf(object: CustomResourceDefinition): CustomResourceDefinitionStatus {
  object.status ??= emptyStatus();
  return object.status;
}

export function storageVersionOf({ spec }: CustomResourceDefinition): string | undefined {
  return spec?.versions?.find(({ storage }) => storage)?.name;
}
