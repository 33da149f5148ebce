import { resources } from '@orch/client';
import { dialect } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pod } from '../../test/objects.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { nodeLifecycleController } from './node-lifecycle-controller.js';
import { taintEvictionController } from './taint-eviction-controller.js';

const namespace = () => dialect().nodeLeaseNamespace;
const dayMs = 86_400_000;

describe('nodeLifecycleController and taintEvictionController', () => {
  let harness: ControllerHarness;
  const create = (...flags: string[]) => {
    harness = new ControllerHarness([nodeLifecycleController, taintEvictionController], { flags });
  };
  const report = (name: string, status: 'True' | 'False', time = String(harness.clock.nowMs())) =>
    harness.server.seed(resources.nodes, {
      ...harness.server.get(resources.nodes, name),
      metadata: { ...harness.server.get(resources.nodes, name)?.metadata, name },
      status: {
        conditions: [{ type: 'Ready', status, lastHeartbeatTime: time, lastTransitionTime: time }],
      },
    });
  /** Renews the lease of a node, as its agent does. */
  const renew = (name: string) =>
    harness.server.seed(resources.leases, {
      metadata: { name, namespace: namespace() },
      spec: { renewTime: String(harness.clock.nowMs()) },
    });
  const advance = async (seconds: number, alive: readonly string[]) => {
    for (let second = 0; second < seconds; second++) {
      for (const name of alive) renew(name);
      await harness.advance(1_000);
    }
  };
  const seedPod = (name: string, facts: Parameters<typeof pod>[0] = {}) => {
    const spec = { terminationGracePeriodSeconds: 0, ...facts.spec };
    harness.server.seed(resources.pods, pod({ name, node: 'silent', ...facts, spec }));
  };
  const node = (name: string): Node => harness.server.get(resources.nodes, name)!;
  const taints = (name: string) => node(name).spec?.taints?.map(({ effect }) => effect) ?? [];
  const readiness = (name: string) =>
    harness.server.get(resources.pods, `default/${name}`)?.status?.conditions?.[0]?.status;
  const writes = () => harness.server.requests.filter(({ method }) => method !== 'GET');

  beforeEach(() => create());
  afterEach(() => harness.stop());

  describe('with the taint manager', () => {
    beforeEach(async () => {
      report('alive', 'True');
      report('silent', 'True');
      const tolerations = [{ operator: 'Exists' as const, tolerationSeconds: 30 }];
      seedPod('intolerant');
      seedPod('patient', { spec: { tolerations } });
      await harness.start();
    });

    it('marks a silent node as unknown, taints it and evicts its pods', async () => {
      await advance(30, ['alive']);
      expect(taints('silent')).toEqual([]);
      await advance(25, ['alive']);
      expect(node('silent').status?.conditions).toContainEqual(
        expect.objectContaining({ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }),
      );
      expect(taints('silent')).toEqual(['NoSchedule', 'NoExecute']);
      expect(taints('alive')).toEqual([]);
      expect(harness.names(resources.pods)).toEqual(['patient']);
      expect(readiness('patient')).toBe('False');
      await advance(31, ['alive']);
      expect(harness.names(resources.pods)).toEqual([]);
      expect(harness.events()).toContain('NodeNotReady: Node silent status is now: NodeNotReady');
      const metrics = await harness.metrics.render();
      expect(metrics).toContain('node_collector_evictions_number{zone=""} 1');
      expect(metrics).toContain('node_collector_unhealthy_nodes_in_zone{zone=""} 1');
      expect(metrics).toContain('node_collector_zone_health{zone=""} 50');
      expect(metrics).toContain('node_collector_zone_size{zone=""} 2');
    });

    it('cancels an eviction when the node recovers within the toleration', async () => {
      await advance(55, ['alive']);
      report('silent', 'True');
      await advance(40, ['alive', 'silent']);
      expect(taints('silent')).toEqual([]);
      expect(harness.names(resources.pods)).toEqual(['patient']);
      expect(harness.events()).toContain(
        'TaintManagerEviction: Cancelling deletion of Pod default/patient',
      );
    });

    it('sets no NoExecute taint and evicts nothing while no node is ready', async () => {
      await advance(120, []);
      expect([taints('silent'), taints('alive')]).toEqual([['NoSchedule'], ['NoSchedule']]);
      expect(harness.names(resources.pods)).toEqual(['intolerant', 'patient']);
    });

    it('removes the NoExecute taint when the last node is lost too', async () => {
      await advance(55, ['alive']);
      expect(taints('silent')).toContain('NoExecute');
      await advance(55, []);
      expect([taints('silent'), taints('alive')]).toEqual([['NoSchedule'], ['NoSchedule']]);
    });

    it('gives all nodes a new grace period when one is ready again', async () => {
      await advance(120, []);
      await advance(35, ['alive']);
      report('alive', 'True');
      await advance(10, ['alive']);
      expect(taints('alive')).toEqual([]);
      expect(harness.names(resources.pods)).toEqual(['intolerant', 'patient']);
    });

    it('leaves the pods of a node alone that reports itself not ready', async () => {
      report('silent', 'False');
      await advance(3, ['alive', 'silent']);
      expect(readiness('patient')).toBe('True');
    });

    it('marks a ready pod that appears on a lost node', async () => {
      await advance(55, ['alive']);
      seedPod('late', { spec: { tolerations: [{ operator: 'Exists' }] } });
      await harness.settle();
      expect(readiness('late')).toBe('False');
    });

    it('repeats the marking of a pod that fails', async () => {
      harness.server.interceptNext('PUT', resources.pods, ({ name }) => {
        harness.server.change(resources.pods, `default/${name}`, (object) => ({
          ...object,
          metadata: { ...object.metadata, labels: { changed: 'yes' } },
        }));
      });
      await advance(55, ['alive']);
      expect(readiness('patient')).toBe('False');
    });

    it('adds the beta labels', async () => {
      harness.server.change(resources.nodes, 'alive', (object) => ({
        ...object,
        metadata: { ...object.metadata, labels: { 'orch.io/os': 'linux' } },
      }));
      await harness.settle();
      expect(node('alive').metadata?.labels).toMatchObject({ 'beta.orch.io/os': 'linux' });
    });

    it('writes a bounded number of times while a node flaps and the clock jumps', async () => {
      for (let minute = 0; minute < 4; minute++) {
        const before = writes().length;
        harness.clock.jump(minute % 2 === 0 ? dayMs : -2 * dayMs);
        for (let second = 0; second < 60; second++) {
          report('silent', second % 2 === 0 ? 'False' : 'True');
          await advance(1, ['alive', 'silent']);
        }
        const events = writes()
          .slice(before)
          .filter(({ resource }) => resource.plural === 'events');
        // One write of the taints for each of the 60 changes, and at most 0.1 NoExecute a second.
        expect(writes().length - before - events.length).toBeLessThanOrEqual(60 + 6 + 6);
        expect(events.length).toBeLessThanOrEqual(60);
      }
      expect(harness.names(resources.pods)).toContain('patient');
      expect(harness.events()).toContain(
        'TaintManagerEviction: Cancelling deletion of Pod default/patient',
      );
    });

    it('neither loses a node nor writes when the clock jumps by a day', async () => {
      await advance(60, ['alive', 'silent']);
      const before = writes().length;
      for (const jumpMs of [dayMs, -2 * dayMs, dayMs]) {
        harness.clock.jump(jumpMs);
        await advance(30, ['alive', 'silent']);
      }
      expect(writes().length).toBe(before);
      expect([taints('alive'), taints('silent')]).toEqual([[], []]);
    });
  });

  describe('without the taint manager', () => {
    beforeEach(async () => {
      create('--enable-taint-manager=false', '--pod-eviction-timeout=60s');
      report('alive', 'True');
      report('silent', 'True');
      seedPod('web');
      const daemon = pod({ name: 'daemon', node: 'silent' });
      daemon.metadata!.ownerReferences = [
        { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd', controller: true },
      ];
      harness.server.seed(resources.pods, daemon);
      await harness.start();
    });

    it('deletes the pods after the timeout, except daemon pods, and sets no taint', async () => {
      await advance(55, ['alive']);
      expect(harness.names(resources.pods)).toEqual(['daemon', 'web']);
      expect(taints('silent')).toEqual(['NoSchedule']);
      await advance(15, ['alive']);
      expect(harness.names(resources.pods)).toEqual(['daemon']);
      expect(harness.events()).toEqual(
        expect.arrayContaining([
          'DeletingAllPods: Node silent event: Deleting all Pods from Node silent.',
          'NodeControllerEviction: Marking for deletion Pod web from Node silent',
        ]),
      );
      seedPod('late');
      await advance(6, ['alive']);
      expect(harness.names(resources.pods)).toEqual(['daemon']);
    });

    it('deletes nothing if the node recovers before', async () => {
      await advance(50, ['alive']);
      report('silent', 'True');
      await advance(60, ['alive', 'silent']);
      expect(harness.names(resources.pods)).toEqual(['daemon', 'web']);
      report('silent', 'False');
      await advance(55, ['alive', 'silent']);
      expect(harness.names(resources.pods)).toEqual(['daemon', 'web']);
      await advance(20, ['alive', 'silent']);
      expect(harness.names(resources.pods)).toEqual(['daemon']);
    });

    it('deletes nothing while no node is ready', async () => {
      await advance(180, []);
      expect(harness.names(resources.pods)).toEqual(['daemon', 'web']);
    });
  });
});
