import { resources } from '@orch/client';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stateCount, stateTimeoutMs } from '../../test/states.js';
import { claim, volume } from '../../test/volumes.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { planExpansion } from './expansion-plan.js';
import { volumeExpandController } from './volume-expand-controller.js';

const provisioned = { 'pv.orch.io/provisioned-by': 'orch.io/local-path' };
const claimRef = { namespace: 'default', name: 'c', uid: 'uid-c' };

function bound(requested: string, actual: string) {
  const made = claim('c', requested, { volumeName: 'v' });
  return { ...made, status: { phase: 'Bound' as const, capacity: { storage: actual } } };
}

describe('volumeExpandController', () => {
  let harness: ControllerHarness;
  beforeEach(async () => {
    harness = new ControllerHarness([volumeExpandController]);
    await harness.start();
  });
  afterEach(() => harness.stop());

  const capacities = () => [
    harness.server.get(resources.persistentVolumes, 'v')?.spec?.capacity?.storage,
    harness.server.get(resources.persistentVolumeClaims, 'default/c')?.status?.capacity?.storage,
  ];

  it('expands a directory volume, also if it ended after the volume was written', async () => {
    harness.server.seed(resources.persistentVolumes, volume('v', '1Gi', { claimRef }, provisioned));
    await harness.settle();
    harness.server.seed(resources.persistentVolumeClaims, bound('3Gi', '1Gi'));
    await harness.settle();
    expect(capacities()).toEqual(['3Gi', '3Gi']);
    harness.server.seed(resources.persistentVolumeClaims, bound('3Gi', '1Gi'));
    await harness.settle();
    expect(capacities()).toEqual(['3Gi', '3Gi']);
  });

  it('leaves the volume of a driver to its controller', async () => {
    const csi = { driver: 'disk.example.com', volumeHandle: 'h' };
    harness.server.seed(resources.persistentVolumes, volume('v', '1Gi', { claimRef, csi }));
    await harness.settle();
    harness.server.seed(resources.persistentVolumeClaims, bound('3Gi', '1Gi'));
    await harness.settle();
    expect(capacities()).toEqual(['1Gi', '1Gi']);
    expect(harness.events()[0]).toContain('ExternalExpanding: Ignoring the PVC');
  });
});

it('planExpansion never shrinks, and is complete after one expansion', {
  timeout: stateTimeoutMs,
}, () => {
  const gib = fc.integer({ min: 1, max: 9 });
  const states = fc.record({
    ...{ requested: gib, actual: gib, size: gib },
    owner: fc.constantFrom('uid-c', 'other'),
    isBuiltIn: fc.boolean(),
  });
  const property = fc.property(states, ({ requested, actual, size, owner, isBuiltIn }) => {
    const of = bound(`${requested}Gi`, `${actual}Gi`);
    const reference = { ...claimRef, uid: owner };
    const annotations = isBuiltIn ? provisioned : {};
    const found = volume('v', `${size}Gi`, { claimRef: reference }, annotations);
    const plan = planExpansion(of, found);
    if (requested <= actual || owner !== 'uid-c') {
      expect(plan.act).toBe('none');
      return;
    }
    expect(plan.act).toBe(isBuiltIn ? 'expand' : 'leave');
    if (plan.act !== 'expand') return;
    const expanded = plan.volume ?? found;
    expect(expanded.spec?.capacity?.storage).toBe(`${Math.max(size, requested)}Gi`);
    expect(plan.claim.status?.capacity).toEqual(expanded.spec?.capacity);
    expect(planExpansion(plan.claim, expanded).act).toBe('none');
  });
  fc.assert(property, { numRuns: stateCount });
});
