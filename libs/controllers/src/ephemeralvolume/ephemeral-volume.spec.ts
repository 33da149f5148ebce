import { resources } from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { pod } from '../../test/objects.js';
import { stateCount, stateTimeoutMs } from '../../test/states.js';
import { claim } from '../../test/volumes.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { planEphemeralClaim } from './ephemeral-claims-plan.js';
import { ephemeralVolumeController } from './ephemeral-volume-controller.js';

const { persistentVolumeClaims } = resources;
const ephemeral = (name: string) => ({
  name,
  ephemeral: {
    volumeClaimTemplate: {
      metadata: { labels: { app: 'db' } },
      spec: { storageClassName: 'slow', resources: { requests: { storage: '1Gi' } } },
    },
  },
});
const podWith = (...names: string[]): Pod =>
  pod({ name: 'p', spec: { volumes: [...names.map(ephemeral), { name: 'e', emptyDir: {} }] } });

describe('ephemeralVolumeController', () => {
  let harness: ControllerHarness;
  afterEach(() => harness.stop());

  const started = async (gates: Record<string, boolean> = {}) => {
    harness = new ControllerHarness([ephemeralVolumeController], { gates });
    await harness.start();
  };

  it('creates a claim for each ephemeral volume, again if it is deleted', async () => {
    await started();
    const owner = harness.server.seed(resources.pods, podWith('a', 'b'));
    await harness.settle();
    expect(harness.names(persistentVolumeClaims)).toEqual(['p-a', 'p-b']);
    expect(harness.server.get(persistentVolumeClaims, 'default/p-a')).toMatchObject({
      metadata: {
        labels: { app: 'db' },
        ownerReferences: [
          { kind: 'Pod', name: 'p', uid: owner.metadata?.uid, blockOwnerDeletion: true },
        ],
      },
      spec: { storageClassName: 'slow', resources: { requests: { storage: '1Gi' } } },
    });
    await harness.client.resource(persistentVolumeClaims, 'default').delete('p-b');
    await harness.settle();
    expect(harness.names(persistentVolumeClaims)).toEqual(['p-a', 'p-b']);
  });

  it('reports a claim of the name that is not of the pod', async () => {
    await started();
    harness.server.seed(persistentVolumeClaims, claim('p-a'));
    harness.server.seed(resources.pods, podWith('a'));
    await harness.advance(2_000);
    expect(harness.events()[0]).toContain('FailedBinding: ephemeral volume a: PVC "default/p-a"');
  });

  it('does nothing if its gate is off', async () => {
    await started({ GenericEphemeralVolume: false });
    harness.server.seed(resources.pods, podWith('a'));
    await harness.settle();
    expect(harness.names(persistentVolumeClaims)).toEqual([]);
  });
});

it('planEphemeralClaim creates a claim once, never for a pod that is being deleted, and takes none over', {
  timeout: stateTimeoutMs,
}, () => {
  const states = fc.record({
    isDeleting: fc.boolean(),
    existing: fc.constantFrom('none', 'own', 'foreign', 'earlier pod'),
    name: fc.stringMatching(/^[a-z]{1,8}$/),
  });
  const property = fc.property(states, ({ isDeleting, existing, name }) => {
    const of = pod({ name: 'p', deleting: isDeleting, spec: { volumes: [ephemeral(name)] } });
    const [volume] = of.spec!.volumes!;
    const uids: Record<string, string> = { own: of.metadata!.uid!, 'earlier pod': 'old' };
    const uid = uids[existing];
    const found = claim(`p-${name}`);
    if (uid) {
      const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid, controller: true };
      found.metadata!.ownerReferences = [owner];
    }
    const plan = planEphemeralClaim(of, volume!, existing === 'none' ? undefined : found);
    const wanted = existing === 'none' ? 'create' : existing === 'own' ? 'none' : 'refuse';
    expect(plan.act).toBe(isDeleting ? 'none' : wanted);
    if (plan.act !== 'create') return;
    expect(plan.claim.metadata?.name).toBe(`p-${name}`);
    const after = planEphemeralClaim(of, volume!, plan.claim);
    expect(after.act).toBe('none');
  });
  fc.assert(property, { numRuns: stateCount });
});
