/** What descriptions of several kinds share. */
import type { ApiObject } from '@orch/client';
import { lastAppliedKey } from '../apply/applier.js';
import type { Description } from './description.js';

/** Name, namespace, labels and annotations. */
export function describeMetadata(description: Description, { metadata }: ApiObject): void {
  const { [lastAppliedKey()]: _applied, ...annotations } = metadata?.annotations ?? {};
  description
    .field('Name', metadata?.name)
    .field('Namespace', metadata?.namespace)
    .pairs('Labels', metadata?.labels)
    .pairs('Annotations', annotations, ': ');
}

/** `ReplicaSet/web-1` of the controller. */
export function controllerOf({ metadata }: ApiObject): string | undefined {
  const owner = metadata?.ownerReferences?.find((reference) => reference.controller);
  return owner && `${owner.kind}/${owner.name}`;
}

export interface ConditionLike {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export function describeConditions(
  description: Description,
  conditions: readonly ConditionLike[] | undefined,
): void {
  const rows = (conditions ?? []).map(({ type = '', status = '', reason = '', message = '' }) => [
    type,
    status,
    reason,
    message,
  ]);
  description.table('Conditions', [['Type', 'Status', 'Reason', 'Message'], ...rows]);
}

/** Age of a time in the two largest units: `3d4h`, `5m10s`, `42s`. */
export function ageOf(time: string | undefined, nowMs: number): string {
  if (!time) return '<unknown>';
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(time)) / 1_000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  if (days < 8) return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`;
  return days < 730 ? `${days}d` : `${Math.floor(days / 365)}y`;
}
