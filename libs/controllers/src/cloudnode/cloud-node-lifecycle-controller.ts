/**
 * Compares nodes that are not ready with the machines of the provider: deletes nodes whose machine
 * does not exist, and taints nodes whose machine is shut down.
 */

import { conditionOf, formatTime } from '@orch/apimachinery';
import {
  ApiError,
  type EventRecorder,
  type Informer,
  isConflict,
  isNotFound,
  resources,
} from '@orch/client';
import { dialect } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import type { ControllerContext, ControllerFactory } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { createProvider } from '../provider/create-provider.js';
import type { Machines } from '../provider/provider.js';

export const cloudNodeLifecycleController: ControllerFactory = (context, options) => {
  const machines = createProvider(context, options.provider)?.machines;
  if (!machines) return undefined;
  const monitor = new CloudNodeMonitor(context, machines);
  return controller('cloud_node_lifecycle', context)
    .every(options.nodes.nodeMonitorPeriodMs, () => monitor.run())
    .build();
};

class CloudNodeMonitor {
  private readonly nodes: Informer<Node>;
  private readonly recorder: EventRecorder;

  constructor(
    private readonly context: ControllerContext,
    private readonly machines: Machines,
  ) {
    this.nodes = context.informers.informer(resources.nodes);
    this.recorder = context.recorder('cloud-node-lifecycle-controller');
  }

  async run(): Promise<void> {
    for (const node of this.nodes.lister.list()) {
      try {
        await this.check(node);
      } catch (error) {
        // One node that cannot be written does not affect others; the next period retries.
        if (!(error instanceof ApiError)) throw error;
        const { name } = node.metadata ?? {};
        this.context.logger.warn({ err: error, node: name }, 'node was not compared');
      }
    }
  }

  private async check(node: Node): Promise<void> {
    if (node.metadata?.deletionTimestamp) return;
    const ready = conditionOf(node.status?.conditions, 'Ready');
    // A node that has not reported yet may be ahead of the provider.
    if (ready === undefined) return;
    if (ready.status === 'True') return this.setShutDown(node, false);
    const machine = await this.machines.find(node);
    if (machine) await this.setShutDown(node, machine.isShutDown);
    else await this.delete(node);
  }

  private async delete(node: Node): Promise<void> {
    const { name = '', uid } = node.metadata ?? {};
    const regarding = { apiVersion: 'v1', kind: 'Node', name, uid };
    const message = `Deleting node ${name} because it does not exist in the cloud provider`;
    this.recorder.event(regarding, 'Normal', 'DeletingNode', message);
    const deletion = this.context.client
      .resource(resources.nodes)
      .delete(name, { preconditions: { uid } });
    // Conflict: another node has the name.
    await ignoring(deletion, isNotFound, isConflict);
  }

  /** Adds or removes the taint of machines that are shut down. */
  private async setShutDown(node: Node, isShutDown: boolean): Promise<void> {
    const key = dialect().key('shutdown', 'node.cloudprovider');
    const taints = node.spec?.taints ?? [];
    const others = taints.filter((taint) => taint.key !== key);
    if (others.length < taints.length === isShutDown) return;
    const timeAdded = formatTime(this.context.clock.nowMs());
    const wanted = isShutDown
      ? [...others, { key, effect: 'NoSchedule' as const, timeAdded }]
      : others;
    const { name = '', resourceVersion } = node.metadata ?? {};
    const body = { metadata: { resourceVersion }, spec: { taints: wanted } };
    const patched = this.context.client
      .resource(resources.nodes)
      .patch(name, body, { type: 'merge' });
    // Conflict: the next period reads the newer node.
    await ignoring(patched, isNotFound, isConflict);
  }
}
