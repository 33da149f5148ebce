/** Creates config maps without pause and records the acknowledged ones. */
import type { Api } from './api.js';

interface Named {
  metadata: { name: string; resourceVersion: string };
}

export class Writer {
  /** resourceVersion by name, from responses with 201. */
  readonly acknowledged = new Map<string, string>();
  private running = true;
  private readonly finished: Promise<void>;

  constructor(
    private readonly api: Api,
    private readonly prefix: string,
  ) {
    this.finished = this.loop();
  }

  private async loop(): Promise<void> {
    for (let i = 0; this.running; i++) {
      const name = `${this.prefix}-${i}`;
      const object = {
        metadata: { name, labels: { writer: this.prefix } },
        data: { n: String(i) },
      };
      const path = '/api/v1/namespaces/default/configmaps';
      try {
        const { status, body } = await this.api.call<Named>('POST', path, object);
        if (status === 201) this.acknowledged.set(name, body.metadata.resourceVersion);
      } catch {
        // Not acknowledged, because the server is unavailable.
        await new Promise((done) => setTimeout(done, 20));
      }
    }
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.finished;
  }

  /** Names and versions that are missing or differ in what the server lists now. */
  async lost(): Promise<string[]> {
    const path = `/api/v1/namespaces/default/configmaps?labelSelector=writer%3D${this.prefix}`;
    const { body } = await this.api.call<{ items: Named[] }>('GET', path);
    const found = new Map(body.items.map((o) => [o.metadata.name, o.metadata.resourceVersion]));
    return [...this.acknowledged].filter(([n, v]) => found.get(n) !== v).map(([n]) => n);
  }
}
