import { resources } from '@orch/client';
import type { Node } from '@orch/types/core/v1';
import type { VolumeAttachment } from '@orch/types/storage/v1';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { pod } from '../../test/objects.js';
import { stateCount, stateTimeoutMs } from '../../test/states.js';
import { claim, volume } from '../../test/volumes.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { attachDetachController } from './attach-detach-controller.js';
import { planAttachments, type UsedVolume, volumeNameOf } from './attachment-plan.js';

const driver = 'disk.example.com';
const managed = { 'volumes.orch.io/controller-managed-attach-detach': 'true' };
const statusName = (name: string) => `orch.io/csi/${driver}^${name}`;
const csiVolume = (name: string, modes: string[] = ['ReadWriteOnce']) =>
  volume(name, '1Gi', {
    nfs: undefined,
    accessModes: modes as ['ReadWriteOnce'],
    csi: { driver, volumeHandle: name },
    claimRef: { namespace: 'default', name: `c-${name}`, uid: `uid-c-${name}` },
  });
const managedNode = (name: string, annotations: Record<string, string> = managed): Node => ({
  metadata: { name, uid: `uid-${name}`, annotations },
});

describe('attachDetachController', () => {
  let harness: ControllerHarness;
  afterEach(() => harness.stop());

  const started = async (...flags: string[]) => {
    harness = new ControllerHarness([attachDetachController], { flags });
    for (const name of ['a', 'b']) harness.server.seed(resources.nodes, managedNode(name));
    harness.server.seed(resources.persistentVolumes, csiVolume('v'));
    const bound = { 'pv.orch.io/bind-completed': 'yes' };
    const spec = { volumeName: 'v' };
    harness.server.seed(resources.persistentVolumeClaims, claim('c-v', '1Gi', spec, bound));
    await harness.start();
  };
  const createPod = async (name: string, node: string) => {
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c-v' } }];
    harness.server.seed(resources.pods, pod({ name, node, spec: { volumes } }));
    await harness.settle();
  };
  const deletePod = async (name: string) => {
    const pods = harness.client.resource(resources.pods, 'default');
    await pods.delete(name, { gracePeriodSeconds: 0 });
    await harness.settle();
  };
  const attachments = () => harness.server.list(resources.volumeAttachments);
  const nodesAttached = () => attachments().map(({ spec }) => spec.nodeName);
  const attach = async () => {
    for (const { metadata } of attachments()) {
      harness.server.change(resources.volumeAttachments, metadata?.name ?? '', (one) => ({
        ...one,
        status: { attached: true },
      }));
    }
    await harness.settle();
  };
  const nodeStatus = (name: string) => harness.server.get(resources.nodes, name)?.status;
  const setInUse = async (name: string, volumesInUse: string[]) => {
    harness.server.change(resources.nodes, name, (node) => ({
      ...node,
      status: { ...node.status, volumesInUse },
    }));
    await harness.settle();
  };

  it('attaches a volume for its pod and reports it to the node, then detaches it', async () => {
    await started();
    await createPod('p', 'a');
    expect(attachments()[0]?.spec).toEqual({
      attacher: driver,
      nodeName: 'a',
      source: { persistentVolumeName: 'v' },
    });
    expect(nodeStatus('a')?.volumesAttached ?? []).toEqual([]);
    await attach();
    expect(nodeStatus('a')?.volumesAttached).toEqual([{ name: statusName('v'), devicePath: '' }]);
    await deletePod('p');
    expect(nodesAttached()).toEqual([]);
    expect(nodeStatus('a')?.volumesAttached).toEqual([]);
  });

  it('detaches a volume when the node has unmounted it, or after six minutes', async () => {
    await started();
    await createPod('p', 'a');
    await attach();
    await setInUse('a', [statusName('v')]);
    await deletePod('p');
    expect(nodesAttached()).toEqual(['a']);
    await setInUse('a', []);
    expect(nodesAttached()).toEqual([]);
    await createPod('q', 'a');
    await attach();
    await setInUse('a', [statusName('v')]);
    await deletePod('q');
    await harness.advance(350_000);
    expect(nodesAttached()).toEqual(['a']);
    await harness.advance(20_000);
    expect(nodesAttached()).toEqual([]);
  });

  it('attaches a volume to the next node when the first has released it', async () => {
    await started();
    await createPod('p', 'a');
    await attach();
    await createPod('q', 'b');
    expect(nodesAttached()).toEqual(['a']);
    await harness.advance(1_000);
    expect(harness.events().join()).toContain('FailedAttachVolume: Multi-Attach error');
    await deletePod('p');
    expect(nodesAttached()).toEqual(['b']);
  });

  it('serves only managed nodes, and drivers that attach', async () => {
    await started('--disable-attach-detach-reconcile-sync');
    harness.server.seed(resources.nodes, managedNode('own', {}));
    harness.server.seed(resources.csiDrivers, {
      metadata: { name: driver },
      spec: { attachRequired: false },
    });
    await harness.settle();
    await createPod('p', 'own');
    await createPod('q', 'a');
    expect(nodesAttached()).toEqual([]);
  });
});

it('planAttachments never attaches an exclusive volume twice, nor detaches a used one', {
  timeout: stateTimeoutMs,
}, () => {
  const waitMs = 100;
  const facts = fc.record({
    isUsed: fc.boolean(),
    isExclusive: fc.boolean(),
    isElsewhere: fc.boolean(),
    isInUse: fc.boolean(),
    isKnown: fc.boolean(),
    attachment: fc.constantFrom('none', 'requested', 'attached', 'ending'),
    unusedMs: fc.constantFrom(0, 99, 100, 500),
    wasReported: fc.boolean(),
  });
  const states = fc.record({
    hasNode: fc.boolean(),
    volumes: fc.array(facts, { maxLength: 5 }),
  });
  const property = fc.property(states, ({ hasNode, volumes }) => {
    const byName = new Map(volumes.map((one, index) => [`v${index}`, one]));
    const entries = [...byName];
    const used = new Map<string, UsedVolume>();
    for (const [name, { isUsed, isExclusive }] of entries) {
      const modes = isExclusive ? ['ReadWriteOnce'] : ['ReadWriteOnce', 'ReadWriteMany'];
      if (isUsed) used.set(name, { volume: csiVolume(name, modes), pods: [pod()] });
    }
    const attachments = entries.flatMap(([name, { attachment }]): VolumeAttachment[] => {
      if (attachment === 'none') return [];
      const ending = attachment === 'ending' && { deletionTimestamp: 'now' };
      return [
        {
          metadata: { name, uid: name, ...ending },
          spec: { attacher: driver, nodeName: 'a', source: { persistentVolumeName: name } },
          status: { attached: attachment !== 'requested' },
        },
      ];
    });
    const names = (test: (one: (typeof volumes)[number]) => boolean) =>
      entries.filter(([, one]) => test(one)).map(([name]) => statusName(name));
    const node: Node = {
      ...managedNode('a'),
      status: {
        volumesInUse: names(({ isInUse }) => isInUse),
        volumesAttached: names(({ wasReported }) => wasReported).map((name) => ({
          name,
          devicePath: '',
        })),
      },
    };
    const plan = planAttachments({
      node: hasNode ? node : undefined,
      used,
      attachments,
      otherNodes: (name) => (byName.get(name)?.isElsewhere ? ['b'] : []),
      statusName: (name) => (byName.get(name)?.isKnown ? statusName(name) : undefined),
      unusedMs: (one) => byName.get(volumeNameOf(one))!.unusedMs,
      unmountWaitMsMax: waitMs,
    });
    for (const { volume: one } of plan.attach) {
      const of = byName.get(one.metadata?.name ?? '')!;
      expect(of.attachment).toBe('none');
      expect(of.isExclusive && of.isElsewhere).toBe(false);
    }
    const attached = new Set((plan.volumesAttached ?? []).map(({ name }) => name));
    for (const one of plan.detach) {
      const of = byName.get(volumeNameOf(one))!;
      expect(of.isUsed || of.attachment === 'ending').toBe(false);
      const isUnmounted = hasNode && of.isKnown && !of.isInUse;
      expect(isUnmounted || of.unusedMs >= waitMs).toBe(true);
      expect(attached.has(statusName(volumeNameOf(one)))).toBe(false);
    }
    const handled = plan.attach.length + plan.blocked.length;
    const missing = entries.filter(([, one]) => one.isUsed && one.attachment === 'none');
    expect(handled).toBe(missing.length);
    if (plan.againAfterMs !== undefined) expect(plan.againAfterMs).toBeGreaterThan(0);
  });
  fc.assert(property, { numRuns: stateCount });
});
