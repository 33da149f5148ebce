/** One API server with controller manager and scheduler. The bench plays the nodes and agents. */
import { until } from './bench-files.mjs';
import { ComponentProcess, ComponentsProcess } from './component-process.mjs';
import { deployment, inBatches, node } from './manager-objects.mjs';
import { ServerProcess } from './server-process.mjs';

/** Pause between two checks of the pods. */
const pollMs = 50;
const podsTimeoutMs = 240_000;
const pods = '/api/v1/namespaces/default/pods';
/** A busy machine must not end a measurement: the processes are the only candidates. */
const schedulerFlags = [
  ...['--leader-elect-lease-duration=60s', '--leader-elect-renew-deadline=50s'],
  ...['--orch-api-qps=1000', '--orch-api-burst=1000'],
];
/** The nodes have no agents that renew their heartbeats. */
const managerFlags = [
  ...schedulerFlags,
  ...['--node-monitor-grace-period=1h', '--node-startup-grace-period=1h'],
];

export class ManagedCluster {
  /**
   * Runs the programs of the built checkout `tree`, by default this one; manager and scheduler in
   * one process if `together`.
   */
  constructor(tree, { together = false } = {}) {
    this.server = new ServerProcess([], tree);
    const components = together
      ? { components: new ComponentsProcess(this.server, [managerFlags, schedulerFlags]) }
      : {
          manager: new ComponentProcess('controller-manager', this.server, managerFlags),
          scheduler: new ComponentProcess('scheduler', this.server, schedulerFlags),
        };
    this.components = components;
    this.processes = { server: this.server, ...components };
  }

  async start(nodeCount) {
    const { server } = this;
    await server.start();
    for (const component of Object.values(this.components)) await component.start();
    const account = '/api/v1/namespaces/default/serviceaccounts/default';
    await until('the service account exists', () => server.call('GET', account));
    await inBatches(nodeCount, async (index) => {
      await server.call('POST', '/api/v1/nodes', node(index));
    });
    await until('the nodes are ready', async () => {
      const { items } = await this.list('/api/v1/nodes');
      return items.every(({ spec }) => (spec.taints ?? []).length === 0) || undefined;
    });
  }

  async stop() {
    await Promise.all(Object.values(this.components).map((component) => component.stop()));
    await this.server.stop();
  }

  async list(path) {
    return JSON.parse(await this.server.call('GET', path));
  }

  async pods() {
    return (await this.list(pods)).items;
  }

  /**
   * Creates the deployment `app-<index>`. Resolves when there are `podCount` pods and all are
   * bound; returns the times until they existed and were bound, and the CPU times by process.
   */
  async deploy(index, replicas, podCount) {
    const cpuUs = () => Object.values(this.processes).map((process) => process.cpuUs());
    const before = cpuUs();
    const startedMs = performance.now();
    const body = deployment(index, replicas);
    await this.server.call('POST', '/apis/apps/v1/namespaces/default/deployments', body);
    const times = await this.podTimes(podCount, startedMs);
    const names = Object.keys(this.processes);
    const seconds = cpuUs().map((us, at) => (us - before[at]) / 1e6);
    return { ...times, cpu: names.map((name, at) => [name, seconds[at]]) };
  }

  /** Resolves when `podCount` pods exist and all are bound; returns the times since `startedMs`. */
  async podTimes(podCount, startedMs) {
    const exist = async () => {
      const { items, metadata } = await this.list(`${pods}?limit=1`);
      return items.length + (metadata.remainingItemCount ?? 0) >= podCount || undefined;
    };
    await until('all pods exist', exist, podsTimeoutMs, pollMs);
    const createdMs = performance.now() - startedMs;
    const bound = async () => {
      const { items } = await this.list(`${pods}?limit=1&fieldSelector=spec.nodeName%3D`);
      return items.length === 0 || undefined;
    };
    await until('all pods are bound', bound, podsTimeoutMs, pollMs);
    return { createdMs, boundMs: performance.now() - startedMs };
  }
}
