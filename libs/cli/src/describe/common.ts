/** Parts of the descriptions of several kinds. */
import { controllerOf } from '@orch/apimachinery';
import type { ApiObject } from '@orch/client';
import { lastAppliedKey } from '../apply/applier.js';
import type { Description } from './description.js';

/** Adds name, namespace, labels and annotations. */
export function describeMetadata(description: Description, { metadata }: ApiObject): void {
  const { [lastAppliedKey()]: _applied, ...annotations } = metadata?.annotations ?? {};
  description
    .field('Name', metadata?.name)
    .field('Namespace', metadata?.namespace)
    .pairs('Labels', metadata?.labels)
    .pairs('Annotations', annotations, ': ');
}

/** The controller of an object, such as `ReplicaSet/web-1`. */
export function controllerTitle(object: ApiObject): string | undefined {
  const owner = controllerOf(object);
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
