/**
 * ComponentStatus: the health of a control plane component. Not stored: the server computes it on
 * read.
 */

import { parseTime } from '@orch/apimachinery';
import type { Lease } from '@orch/types/coordination/v1';
import type { ComponentCondition, ComponentStatus } from '@orch/types/core/v1';
import { define } from '../definition.js';
import { nameColumn } from '../shared/columns.js';

/** Components with leader election; their leases have the same names. */
export const electedComponents = ['scheduler', 'controller-manager'] as const;
/** The name of the store that clients look for. */
export const storeComponent = 'etcd-0';

const statusNames: Readonly<Record<string, string>> = { True: 'Healthy', False: 'Unhealthy' };

const healthOf = ({ conditions }: ComponentStatus): ComponentCondition | undefined =>
  conditions?.find(({ type }) => type === 'Healthy');

/** `error` is empty for a healthy component; an empty `message` is omitted. */
export function componentStatus(name: string, message: string, error: string): ComponentStatus {
  const condition: ComponentCondition = {
    type: 'Healthy',
    status: error === '' ? 'True' : 'False',
    ...(message !== '' && { message }),
    ...(error !== '' && { error }),
  };
  return {
    kind: 'ComponentStatus',
    apiVersion: 'v1',
    metadata: { name },
    conditions: [condition],
  };
}

/** The status of a component whose leader holds the lease `key`. */
export function electedStatus(
  name: string,
  key: string,
  lease: Lease | undefined,
  nowMs: number,
): ComponentStatus {
  if (!lease?.spec?.holderIdentity)
    return componentStatus(name, '', `the lease ${key} has no holder`);
  const { renewTime, leaseDurationSeconds = 0 } = lease.spec;
  const endsMs = (parseTime(renewTime) ?? 0) + leaseDurationSeconds * 1_000;
  return nowMs <= endsMs
    ? componentStatus(name, 'ok', '')
    : componentStatus(name, '', `the lease ${key} has not been renewed since ${renewTime}`);
}

export const componentStatusKind = define<ComponentStatus>({
  plural: 'componentstatuses',
  singular: '',
  kind: 'ComponentStatus',
  shortNames: ['cs'],
  namespaced: false,
  verbs: ['get', 'list'],
  virtual: true,
  versions: [{ group: 'core', version: 'v1', deprecation: { since: '1.19' } }],
  stored: { group: 'core', version: 'v1' },
  columns: [
    nameColumn(),
    {
      name: 'Status',
      type: 'string',
      description: 'Whether the component is healthy.',
      cell: (object) => statusNames[healthOf(object)?.status ?? ''] ?? 'Unknown',
    },
    {
      name: 'Message',
      type: 'string',
      description: 'Message of the health check.',
      cell: (object) => healthOf(object)?.message ?? '',
    },
    {
      name: 'Error',
      type: 'string',
      description: 'Error of the health check.',
      cell: (object) => healthOf(object)?.error ?? '',
    },
  ],
});
