import type { Pod, PodStatus } from '@orch/types/core/v1';
import { expect, it } from 'vitest';
import { statusPatch } from './status-patch.js';

const podWith = (status: PodStatus): Pod => ({ metadata: { name: 'p', uid: 'u' }, status });

it('is undefined if nothing changes', () => {
  const status: PodStatus = {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: 't' }],
    containerStatuses: [],
  };
  const foreign = { type: 'example.org/x', status: 'True' };
  const current = {
    ...status,
    qosClass: 'Burstable',
    conditions: [...status.conditions!, foreign],
  };
  expect(statusPatch(podWith(current), status)).toBeUndefined();
});

it('changes, adds and removes fields, and only the conditions of the agent', () => {
  const current: PodStatus = {
    phase: 'Running',
    reason: 'Old',
    podIPs: [{ ip: '10.0.0.1' }],
    conditions: [
      { type: 'Ready', status: 'False', reason: 'R', message: 'M' },
      { type: 'Initialized', status: 'True' },
    ],
  };
  const wanted: PodStatus = {
    phase: 'Running',
    podIPs: [{ ip: '10.0.0.2' }],
    hostIP: '192.0.2.1',
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Initialized', status: 'True' },
    ],
  };
  expect(statusPatch(podWith(current), wanted)).toEqual({
    metadata: { uid: 'u' },
    status: {
      reason: null,
      hostIP: '192.0.2.1',
      podIPs: [{ ip: '10.0.0.2' }, { $patch: 'replace' }],
      conditions: [{ type: 'Ready', status: 'True', reason: null, message: null }],
    },
  });
});

it('has no replace directive for the first address', () => {
  const patch = statusPatch(podWith({ phase: 'Pending' }), {
    phase: 'Pending',
    podIPs: [{ ip: '10.0.0.2' }],
  });
  expect(patch).toMatchObject({ status: { podIPs: [{ ip: '10.0.0.2' }] } });
});
