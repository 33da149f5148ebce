/**
 * A load of pods of two priorities on nodes without agents: creates and deletes pods all the time,
 * and removes terminating pods, as an agent does.
 */
import type { Api } from './api.js';

export interface LoadPod {
  readonly metadata: { readonly name: string; readonly uid: string; deletionTimestamp?: string };
  readonly spec: {
    readonly nodeName?: string;
    readonly priority?: number;
    readonly containers: readonly { readonly resources: { readonly requests: { cpu: string } } }[];
  };
}

export const podPath = '/api/v1/namespaces/default/pods';
export const nodeMilliCpu = 4_000;
const nodeCount = 4;
const lowMilliCpu = 500;
const highMilliCpu = 1_000;
/** More than fits, so that pods wait and urgent ones preempt. */
const podCountMax = 40;
/** All urgent pods fit, on any nodes. */
const highCountMax = 8;
const roundMs = 50;

/** The server writes `1000m` as `1`. */
export function milliCpuOf({ spec }: LoadPod): number {
  const { cpu } = spec.containers[0]!.resources.requests;
  return cpu.endsWith('m') ? Number.parseInt(cpu, 10) : Number(cpu) * 1_000;
}

export class PodLoad {
  private createdCount = 0;
  private running = false;
  private rounds: Promise<void> = Promise.resolve();

  constructor(private readonly api: Api) {}

  async prepare(): Promise<void> {
    await this.must('POST', '/apis/scheduling.orch.io/v1/priorityclasses', {
      metadata: { name: 'urgent' },
      value: 1_000,
    });
    for (let index = 0; index < nodeCount; index++) {
      const capacity = { cpu: `${nodeMilliCpu}m`, memory: '64Gi', pods: '110' };
      await this.must('POST', '/api/v1/nodes', {
        metadata: { name: `node-${index}` },
        status: { capacity, allocatable: capacity },
      });
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

  async pods(): Promise<LoadPod[]> {
    const { body } = await this.api.call<{ items: LoadPod[] }>('GET', podPath);
    return body.items;
  }

  async removeLowPods(): Promise<void> {
    const low = (await this.pods()).filter(({ spec }) => !spec.priority);
    for (const pod of low) await this.remove(pod);
  }

  /** Creates as many pods as fit into the free room of every node, and returns their names. */
  async fillNodes(): Promise<string[]> {
    const pods = await this.pods();
    const names: string[] = [];
    for (let index = 0; index < nodeCount; index++) {
      const used = pods
        .filter(({ spec }) => spec.nodeName === `node-${index}`)
        .reduce((sum, pod) => sum + milliCpuOf(pod), 0);
      for (let free = nodeMilliCpu - used; free >= lowMilliCpu; free -= lowMilliCpu) {
        names.push(await this.create(lowMilliCpu));
      }
    }
    return names;
  }

  private async run(): Promise<void> {
    while (this.running) {
      await this.round();
      await new Promise((done) => setTimeout(done, roundMs));
    }
  }

  private async round(): Promise<void> {
    const pods = await this.pods();
    for (const pod of pods) {
      const isLeaving = pod.spec.nodeName && Math.random() < 0.05;
      if (pod.metadata.deletionTimestamp || isLeaving) await this.remove(pod);
    }
    const highCount = pods.filter(({ spec }) => spec.priority).length;
    if (highCount < highCountMax && Math.random() < 0.3) await this.create(highMilliCpu, 'urgent');
    for (let count = pods.length; count < podCountMax && Math.random() < 0.7; count++) {
      await this.create(lowMilliCpu);
    }
  }

  private async create(milliCpu: number, priorityClassName?: string): Promise<string> {
    const name = `pod-${this.createdCount++}`;
    const resources = { requests: { cpu: `${milliCpu}m` } };
    await this.must('POST', podPath, {
      metadata: { name },
      spec: {
        containers: [{ name: 'main', image: 'app', resources }],
        tolerations: [{ operator: 'Exists' }],
        ...(priorityClassName && { priorityClassName }),
      },
    });
    return name;
  }

  private async remove({ metadata }: LoadPod): Promise<void> {
    const options = { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } };
    const { status } = await this.api.call('DELETE', `${podPath}/${metadata.name}`, options);
    if (status !== 200 && status !== 404) throw new Error(`deletion of a pod: ${status}`);
  }

  private async must(method: string, path: string, body: object): Promise<void> {
    const response = await this.api.call<{ message?: string }>(method, path, body);
    if (response.status < 300) return;
    throw new Error(`${method} ${path}: ${response.status} ${response.body.message}`);
  }
}
