/** ComponentStatus: whether a part of the control plane works. Nothing is stored: the server says what it sees. */

import { parseTime } from '@orch/apimachinery';
import type { Lease } from '@orch/types/coordination/v1';
import type { ComponentCondition, ComponentStatus } from '@orch/types/core/v1';
import { define } from '../definition.js';
import { nameColumn } from '../shared/columns.js';

/** Parts that are led by the holder of a lease of the system's, and its name. */
export const electedComponents = ['scheduler', 'controller-manager'] as const;
/** The store goes by the name that clients look for. */
export const storeComponent = 'etcd-0';

const statusNames: Readonly<Record<string, string>> = { True: 'Healthy', False: 'Unhealthy' };

const healthOf = ({ conditions }: ComponentStatus): ComponentCondition | undefined =>
  conditions?.find(({ type }) => type === 'Healthy');

/** `error` is empty for what works; an empty `message` says nothing. */
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

/** Of a component that is led by the holder of the lease `key`. */
export function electedStatus(
  name: string,
  key: string,
  lease: Lease | undefined,
  nowMs: number,
): ComponentStatus {
  if (!lease?.spec?.holderIdentity)
    return componentStatus(name, '', `nobody holds the lease ${key}`);
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
      description: 'Whether it works.',
      cell: (object) => statusNames[healthOf(object)?.status ?? ''] ?? 'Unknown',
    },
    {
      name: 'Message',
      type: 'string',
      description: 'What it says of itself.',
      cell: (object) => healthOf(object)?.message ?? '',
    },
    {
      name: 'Error',
      type: 'string',
      description: 'Why it does not work.',
      cell: (object) => healthOf(object)?.error ?? '',
    },
  ],
});
