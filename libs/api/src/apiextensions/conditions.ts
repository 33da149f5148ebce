/** Conditions of a definition: names accepted, established, being removed. */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionStatus,
} from '@orch/types/apiextensions/v1beta1';

/** A condition without its time. */
export type Finding = Required<Omit<CustomResourceDefinitionCondition, 'lastTransitionTime'>>;

/**
 * Puts a condition in the place of the one of its type; its time stays while its status does. Answers
 * whether anything but the time has changed.
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

/** Answers whether there was one. */
export function dropCondition(status: CustomResourceDefinitionStatus, type: string): boolean {
  const conditions = status.conditions ?? [];
  const left = conditions.filter((condition) => condition.type !== type);
  if (left.length === conditions.length) return false;
  status.conditions = left;
  return true;
}

/** The status with nothing said, in its normal form. */
export function emptyStatus(): CustomResourceDefinitionStatus {
  return {
    conditions: null as unknown as CustomResourceDefinitionCondition[],
    acceptedNames: { plural: '', kind: '' },
    storedVersions: [],
  };
}

/** The status to work on: what is missing is filled in. */
export function statusOf(object: CustomResourceDefinition): CustomResourceDefinitionStatus {
  object.status ??= emptyStatus();
  return object.status;
}

export function storageVersionOf({ spec }: CustomResourceDefinition): string | undefined {
  return spec?.versions?.find(({ storage }) => storage)?.name;
}
