/**
 * A server with the users of the overload test, hostile clients, and the failures that were seen.
 */
import { dialect } from '../../../dist/libs/component/src/index.js';
import { until } from '../../bench/bench-files.mjs';
import { Child } from '../../bench/child.mjs';
import { printRow } from '../../bench/row.mjs';
import { ServerProcess } from '../../bench/server-process.mjs';
import { Bystanders, node } from './bystanders.mjs';

const processScript = '../scale/overload/hostile-process.mjs';
const userToken = 'ordinary-user';
/** Free memory of the server's engine that may be in use at the moment of a measurement. */
const slackBytes = 150e6;
const recoveryTimeoutMs = 60_000;

export class Overload {
  failures = [];
  namespace = 'default';
  /** Whether the large objects exist. */
  hasLarge = false;

  static async start(flags) {
    const overload = new Overload();
    const server = new ServerProcess(flags);
    overload.server = server;
    server.users.push(
      `${userToken},ordinary,ordinary`,
      `${node.token},system:node:${node.name},${node.name},system:nodes`,
    );
    try {
      await server.start();
      await overload.prepare();
    } catch (error) {
      await overload.stop();
      throw error;
    }
    return overload;
  }

  async prepare() {
    const { server } = this;
    const roles = dialect().group('rbac.authorization');
    await server.call('POST', `/apis/${roles}/v1/clusterrolebindings`, {
      metadata: { name: 'ordinary' },
      roleRef: { apiGroup: roles, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: roles, kind: 'User', name: 'ordinary' }],
    });
    const coordination = dialect().group('coordination');
    const { nodeLeaseNamespace } = dialect();
    const leases = `/apis/${coordination}/v1/namespaces/${nodeLeaseNamespace}/leases`;
    const spec = { holderIdentity: node.name, leaseDurationSeconds: 40 };
    await server.call('POST', leases, { metadata: { name: node.name }, spec });
    this.leasePath = `${leases}/${node.name}`;
    this.clients = await this.openClients();
  }

  /** Another process of clients, as the ordinary user. */
  async openClients() {
    const clients = new Child(processScript);
    await clients.run('connect', { port: this.server.port, token: userToken });
    return clients;
  }

  check(isTrue, failure) {
    if (!isTrue) this.failures.push(failure);
  }

  /** Runs `work` while the bystanders send; prints and checks their responses. */
  async besideBystanders(work) {
    const bystanders = new Bystanders(this.server, this.leasePath);
    let result;
    try {
      result = await work();
    } finally {
      for (const { kind, statuses, p50Ms, p99Ms } of await bystanders.stop()) {
        const texts = Object.entries(statuses).map(([status, times]) => `${times} x ${status}`);
        const latency = `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
        printRow(`bystander: ${kind}`, '', `${texts.join(', ')}; ${latency}`);
        const isServed = Object.keys(statuses).every((status) => status === '200');
        this.check(isServed, `${kind} got ${texts.join(', ')}`);
      }
    }
    return result;
  }

  /**
   * Runs `work` and checks that the memory of the server grows by no more than `allowedBytes`
   * besides the garbage of the engine. Returns the growth.
   */
  async withinMemory(what, allowedBytes, work) {
    const { server } = this;
    const before = server.residentBytes();
    server.forgetPeak();
    await work();
    const growth = Math.max(0, server.peakBytes() - before);
    const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
    this.check(
      growth <= allowedBytes + slackBytes,
      `${what}: memory grew by ${megabytes(growth)}, allowed ${megabytes(allowedBytes + slackBytes)}`,
    );
    printRow('memory before, growth at the peak', megabytes(before), `+${megabytes(growth)}`);
    return growth;
  }

  /** Resolves with the milliseconds until the ordinary user can write again. */
  async recovery() {
    const startedMs = performance.now();
    await until(
      'the server serves ordinary users again',
      async () => {
        const { status } = await this.clients.run('once', { namespace: this.namespace });
        return status === 201 ? true : undefined;
      },
      recoveryTimeoutMs,
    );
    return performance.now() - startedMs;
  }

  async stop() {
    await this.clients?.stop();
    await this.server.stop();
  }
}
