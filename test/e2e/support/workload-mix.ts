/** A mix of workloads, changed in random ways, and the state that it must end in. */
import type { DaemonSet, Deployment, StatefulSet } from '@orch/types/apps/v1';
import type { Job } from '@orch/types/batch/v1';
import type { Api } from './api.js';
import type { StoredPod } from './simulated-agents.js';

const apps = '/apis/apps/v1/namespaces/default';
const batch = '/apis/batch/v1/namespaces/default/jobs';
export const parallelism = 3;
export const completions = 8;

export class WorkloadMix {
  private replicas = 3;
  private version = 1;
  private jobCount = 0;

  constructor(
    private readonly api: Api,
    private readonly nodeCount: number,
  ) {}

  async create(): Promise<void> {
    const { replicas } = this;
    const spec = (name: string) => ({
      selector: { matchLabels: { app: name } },
      template: this.template(name),
    });
    await this.must('POST', `${apps}/deployments`, {
      metadata: { name: 'web' },
      spec: { ...spec('web'), replicas },
    });
    await this.must('POST', `${apps}/statefulsets`, {
      metadata: { name: 'db' },
      spec: { ...spec('db'), replicas, serviceName: 'db' },
    });
    await this.must('POST', `${apps}/daemonsets`, {
      metadata: { name: 'agent' },
      spec: spec('agent'),
    });
  }

  /** One random change: another scale, another version, or two more jobs. */
  async change(): Promise<void> {
    const choice = Math.floor(Math.random() * 3);
    if (choice === 0) {
      this.replicas = 2 + Math.floor(Math.random() * 5);
      for (const plural of ['deployments/web', 'statefulsets/db']) {
        await this.patch(`${apps}/${plural}`, { spec: { replicas: this.replicas } });
      }
    } else if (choice === 1) {
      this.version += 1;
      for (const path of ['deployments/web', 'statefulsets/db', 'daemonsets/agent']) {
        const name = path.split('/')[1]!;
        await this.patch(`${apps}/${path}`, { spec: { template: this.template(name) } });
      }
    } else {
      this.jobCount += 1;
      for (const completionMode of ['NonIndexed', 'Indexed']) {
        const name = `${completionMode.toLowerCase()}-${this.jobCount}`;
        const { spec } = this.template(name);
        await this.must('POST', batch, {
          metadata: { name },
          spec: {
            ...{ completionMode, completions, parallelism, backoffLimit: 1_000 },
            template: { spec: { ...spec, restartPolicy: 'Never' } },
          },
        });
      }
    }
  }

  /** What still differs from the state of a mix whose controllers were never disturbed. */
  async differences(): Promise<string[]> {
    const [deployment, stateful, daemons, jobs, pods] = await Promise.all([
      this.read<Deployment>(`${apps}/deployments/web`),
      this.read<StatefulSet>(`${apps}/statefulsets/db`),
      this.read<DaemonSet>(`${apps}/daemonsets/agent`),
      this.read<{ items: Job[] }>(batch),
      this.read<{ items: StoredPod[] }>('/api/v1/namespaces/default/pods'),
    ]);
    const { replicas, version, nodeCount } = this;
    const podsOf = (app: string) =>
      pods.items
        .filter(({ metadata }) => metadata.labels?.app === app)
        .map(({ spec }) => spec?.containers?.[0]?.image)
        .sort();
    const found = {
      deployment: { replicas: deployment.status?.readyReplicas, pods: podsOf('web') },
      stateful: { replicas: stateful.status?.readyReplicas, pods: podsOf('db') },
      daemons: { replicas: daemons.status?.numberReady, pods: podsOf('agent') },
      jobs: jobs.items.map(({ status }) => [status?.succeeded, status?.conditions?.[0]?.type]),
    };
    const image = `app:${version}`;
    const wanted = (count: number) => ({ replicas: count, pods: Array(count).fill(image) });
    const expected = {
      deployment: wanted(replicas),
      stateful: wanted(replicas),
      daemons: wanted(nodeCount),
      jobs: Array.from({ length: 2 * this.jobCount }, () => [completions, 'Complete']),
    };
    return Object.entries(expected).flatMap(([name, value]) => {
      const actual = found[name as keyof typeof found];
      const isEqual = JSON.stringify(actual) === JSON.stringify(value);
      return isEqual ? [] : `${name}: ${JSON.stringify(actual)}, not ${JSON.stringify(value)}`;
    });
  }

  private template(app: string) {
    const containers = [{ name: 'main', image: `app:${this.version}` }];
    return { metadata: { labels: { app } }, spec: { containers } };
  }

  private async read<T>(path: string): Promise<T> {
    const { status, body } = await this.api.call<T>('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status}`);
    return body;
  }

  private async must(method: string, path: string, body: object): Promise<void> {
    const { status, body: sent } = await this.api.call<{ message?: string }>(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${sent.message}`);
  }

  private async patch(path: string, body: object): Promise<void> {
    const text = JSON.stringify(body);
    const type = 'application/strategic-merge-patch+json';
    const { status } = await this.api.send('PATCH', path, text, type);
    if (status !== 200) throw new Error(`PATCH ${path}: ${status}`);
  }
}
