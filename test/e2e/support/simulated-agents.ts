/**
 * Plays the scheduler and the node agents for all pods of a cluster: binds them, reports them
 * running and ready, lets those of jobs end, and removes terminating ones.
 */
import type { Pod } from '@orch/types/core/v1';
import type { Api } from './api.js';

const roundMs = 50;
const jobPodRunMs = 300;
const failureShare = 0.1;
const jobLabel = 'job-name';
const mergePatch = 'application/merge-patch+json';

/** A pod as the API returns it. */
export type StoredPod = Pod & {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
};

export class SimulatedAgents {
  private running = false;
  private rounds: Promise<void> = Promise.resolve();
  private readonly startedMs = new Map<string, number>();

  constructor(
    private readonly api: Api,
    private readonly nodes: readonly string[],
  ) {}

  async prepare(): Promise<void> {
    for (const name of this.nodes) {
      const conditions = [{ type: 'Ready', status: 'True' }];
      const capacity = { cpu: '64', memory: '64Gi', pods: '500' };
      const status = { capacity, allocatable: capacity, conditions };
      await this.api.call('POST', '/api/v1/nodes', { metadata: { name }, status });
      // Every new node has the taint of a node that is not ready.
      const untainted = JSON.stringify({ spec: { taints: null } });
      await this.api.send('PATCH', `/api/v1/nodes/${name}`, untainted, mergePatch);
    }
  }

  start(): void {
    this.running = true;
    this.rounds = this.run();
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.rounds;
  }

  private async run(): Promise<void> {
    while (this.running) {
      const { body } = await this.api.call<{ items: StoredPod[] }>('GET', '/api/v1/pods');
      await Promise.all(body.items.map((pod) => this.advance(pod)));
      await new Promise((done) => setTimeout(done, roundMs));
    }
  }

  /** One step in the life of a pod. A pod that has changed meanwhile takes it in the next round. */
  private async advance(pod: StoredPod): Promise<void> {
    const { name, namespace, uid, deletionTimestamp, labels } = pod.metadata;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    const phase = pod.status?.phase ?? 'Pending';
    if (deletionTimestamp) {
      await this.api.call('DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid } });
    } else if (!pod.spec?.nodeName) {
      const target = { kind: 'Node', name: this.nodeOf(pod) };
      await this.api.call('POST', `${path}/binding`, { metadata: { name, uid }, target });
    } else if (phase === 'Pending') {
      this.startedMs.set(uid, performance.now());
      await this.report(path, pod, 'Running');
    } else if (phase === 'Running' && labels?.[jobLabel] && this.ranFor(uid) > jobPodRunMs) {
      await this.report(path, pod, Math.random() < failureShare ? 'Failed' : 'Succeeded');
    }
  }

  private ranFor(uid: string): number {
    return performance.now() - (this.startedMs.get(uid) ?? 0);
  }

  /** The pod of a daemon set names its node. */
  private nodeOf({ spec }: StoredPod): string {
    const terms =
      spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
        ?.nodeSelectorTerms ?? [];
    const named = terms.flatMap(({ matchFields = [] }) => matchFields)[0]?.values?.[0];
    return named ?? this.nodes[Math.floor(Math.random() * this.nodes.length)]!;
  }

  private async report(path: string, pod: StoredPod, phase: string): Promise<void> {
    const isReady = phase === 'Running' ? 'True' : 'False';
    const conditions = [{ type: 'Ready', status: isReady }];
    const status = { ...pod.status, phase, conditions, startTime: new Date().toISOString() };
    await this.api.call('PUT', `${path}/status`, { ...pod, status });
  }
}
