/** The status of a storage version without the entries of servers that are gone. Pure. */
import { conditionOf, formatTime } from '@orch/apimachinery';
import type {
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '@orch/types/internal.apiserver/v1alpha1';
import { withoutCondition } from '../common/conditions.js';

const agreement = 'AllEncodingVersionsEqual';

/** The servers that the status names. */
export function serversOf({ status }: StorageVersion): string[] {
  return (status.storageVersions ?? []).map(({ apiServerID = '' }) => apiServerID);
}

/** Returns the status without the entries of `gone`; undefined if no entry is left. */
export function statusWithout(
  { metadata, status }: StorageVersion,
  gone: ReadonlySet<string>,
  nowMs: number,
): StorageVersionStatus | undefined {
  const left = (status.storageVersions ?? []).filter(
    ({ apiServerID = '' }) => !gone.has(apiServerID),
  );
  const [first, ...others] = left;
  if (!first) return undefined;
  const version = first.encodingVersion;
  const agrees = others.every(({ encodingVersion }) => encodingVersion === version);
  const common = agrees ? version : undefined;
  const conditions = status.conditions ?? [];
  const condition = agreementOf(common, metadata?.generation);
  const previous = conditionOf(conditions, agreement);
  const isSame = previous?.status === condition.status && status.commonEncodingVersion === common;
  const lastTransitionTime = isSame ? previous?.lastTransitionTime : formatTime(nowMs);
  return {
    storageVersions: left,
    ...(common !== undefined && { commonEncodingVersion: common }),
    conditions: [
      ...withoutCondition(conditions, agreement),
      { ...condition, ...(lastTransitionTime && { lastTransitionTime }) },
    ],
  };
}

function agreementOf(
  common: string | undefined,
  observedGeneration: number | undefined,
): StorageVersionCondition {
  const isSet = common !== undefined;
  return {
    type: agreement,
    status: isSet ? 'True' : 'False',
    ...(observedGeneration !== undefined && { observedGeneration }),
    reason: isSet ? 'CommonEncodingVersionSet' : 'CommonEncodingVersionUnset',
    message: isSet ? 'Common encoding version set' : 'Common encoding version unset',
  };
}
