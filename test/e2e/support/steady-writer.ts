/**
 * Creates config maps sequentially at one server, each once and without a retry, and records which
 * were acknowledged, refused, or without a response.
 */
import type { ReplicaServers, Server } from './replica-servers.js';

export const configMaps = '/api/v1/namespaces/default/configmaps';

export class SteadyWriter {
  readonly acknowledged: string[] = [];
  readonly failures: string[] = [];
  private running = true;
  private readonly finished: Promise<void>;

  constructor(
    private readonly replicas: ReplicaServers,
    readonly server: Server,
    private readonly prefix: string,
    private readonly valueBytes = 10,
  ) {
    this.finished = this.loop();
  }

  private async loop(): Promise<void> {
    for (let turn = 0; this.running; turn += 1) {
      const name = `${this.prefix}-${turn}`;
      const object = { metadata: { name }, data: { value: 'v'.repeat(this.valueBytes) } };
      try {
        const { status, body } = await this.replicas.call(this.server, 'POST', configMaps, object);
        if (status === 201) this.acknowledged.push(name);
        else this.failures.push(`${name}: ${status} ${JSON.stringify(body)}`);
      } catch (error) {
        this.failures.push(`${name}: ${String(error)}`);
        // The server may be unavailable; the pause avoids a busy loop.
        await new Promise((done) => setTimeout(done, 20));
      }
    }
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.finished;
  }
}

/** The names of all config maps, from a quorum read. */
export async function namesAt(replicas: ReplicaServers, server: Server): Promise<Set<string>> {
  const { status, body } = await replicas.call<{ items: { metadata: { name: string } }[] }>(
    server,
    'GET',
    configMaps,
  );
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return new Set(body.items.map(({ metadata }) => metadata.name));
}
