/**
 * Many simulated nodes in one process, for scale tests and capacity planning. Each node has its own
 * registration, lease, status and identity; the pods of all share one watch. No container runs, and
 * nothing is on disk: the state is in the API.
 */
import type { ApiClient } from '@orch/client';
import {
  type Clock,
  type HealthChecks,
  type Logger,
  type Metrics,
  ValueError,
} from '@orch/component';
import { type NodeAgentOptions, nodeNameOf } from '../node-agent-options.js';
import { HollowNode } from './hollow-node.js';
import type { HollowOptions } from './hollow-options.js';
import { HollowPods } from './hollow-pods.js';

export interface HollowNodesDependencies {
  readonly agent: NodeAgentOptions;
  readonly hollow: HollowOptions;
  readonly client: ApiClient;
  readonly health: HealthChecks;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

export class HollowNodes {
  private readonly nodes = new Map<string, HollowNode>();
  private readonly pods: HollowPods;

  /** Throws `ValueError` if the range of pod addresses is too small. */
  constructor(private readonly dependencies: HollowNodesDependencies) {
    const { agent, hollow, metrics } = dependencies;
    if (hollow.count < 1) throw new ValueError('--hollow must be at least 1');
    for (let index = 0; index < hollow.count; index += 1) {
      const name = `${nodeNameOf(agent)}-${index}`;
      this.nodes.set(name, new HollowNode(dependencies, name, index));
    }
    const { workerCount } = hollow;
    this.pods = new HollowPods({ ...dependencies, nodes: this.nodes, delays: hollow, workerCount });
    metrics.gauge({
      name: 'kubelet_running_pods',
      help: 'Pods that this agent manages',
      collect: (gauge) => gauge.set(this.pods.podCount),
    });
  }

  /** Starts all nodes; their reports are spread over the period of their leases. */
  start(): void {
    const { agent, logger } = this.dependencies;
    const periodMs = (agent.nodeLeaseDurationSeconds * 1000) / 4;
    let index = 0;
    for (const node of this.nodes.values()) {
      node.start((periodMs * index) / this.nodes.size);
      index += 1;
    }
    this.pods.start();
    logger.info({ nodes: this.nodes.size, prefix: nodeNameOf(agent) }, 'hollow nodes started');
  }

  async stop(): Promise<void> {
    for (const node of this.nodes.values()) node.stop();
    await this.pods.stop();
  }
}
