/**
 * Creates, updates and deletes its own config maps without pause and records the acknowledged
 * writes. If a write has no response, it reads the object before the next write.
 */
import type { Api } from './api.js';
import type { WatchedObject } from './watch-client.js';

export interface Acknowledged {
  readonly verb: 'create' | 'update' | 'delete';
  readonly name: string;
  readonly uid: string;
  /** Absent for deletions, whose response has no version. */
  readonly resourceVersion?: string;
  readonly value: string;
}

const colors = ['red', 'green', 'blue'];
const path = '/api/v1/namespaces/default/configmaps';

export class RandomWriter {
  readonly acknowledged: Acknowledged[] = [];
  /** Responses other than success and unavailability. */
  readonly surprises: string[] = [];
  private readonly held = new Map<string, WatchedObject>();
  private running = true;
  private readonly finished: Promise<void>;

  constructor(
    private readonly api: Api,
    private readonly prefix: string,
    private readonly nameCount = 8,
  ) {
    this.finished = this.loop();
  }

  private async loop(): Promise<void> {
    for (let i = 0; i < this.nameCount; i += 1) await this.readBack(`${this.prefix}-${i}`);
    for (let turn = 0; this.running; turn += 1) {
      const name = `${this.prefix}-${Math.floor(Math.random() * this.nameCount)}`;
      try {
        await this.write(name, `${this.prefix}.${turn}`);
      } catch {
        await this.readBack(name);
      }
    }
  }

  private async write(name: string, value: string): Promise<void> {
    const held = this.held.get(name);
    if (held && Math.random() < 0.25) return this.delete(held, value);
    const color = colors[Math.floor(Math.random() * colors.length)]!;
    const object = { metadata: { name, labels: { color } }, data: { value } };
    const answer = held
      ? await this.api.call<WatchedObject>('PUT', `${path}/${name}`, {
          ...object,
          metadata: { ...object.metadata, resourceVersion: held.metadata.resourceVersion },
        })
      : await this.api.call<WatchedObject>('POST', path, object);
    if (answer.status !== (held ? 200 : 201)) return this.surprised(name, answer);
    const { uid, resourceVersion } = answer.body.metadata;
    this.held.set(name, answer.body);
    const verb = held ? 'update' : 'create';
    this.acknowledged.push({ verb, name, uid, resourceVersion, value });
  }

  private async delete({ metadata }: WatchedObject, value: string): Promise<void> {
    const { name, uid } = metadata;
    const answer = await this.api.call('DELETE', `${path}/${name}`, { preconditions: { uid } });
    if (answer.status !== 200) return this.surprised(name, answer);
    this.held.delete(name);
    this.acknowledged.push({ verb: 'delete', name, uid, value });
  }

  /** Servers that start or stop refuse with a retryable status; others are recorded. */
  private surprised(name: string, answer: { status: number; body: unknown }): Promise<void> {
    if (answer.status !== 503 && answer.status !== 504) {
      this.surprises.push(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return this.readBack(name);
  }

  private async readBack(name: string): Promise<void> {
    while (this.running) {
      try {
        const { status, body } = await this.api.call<WatchedObject>('GET', `${path}/${name}`);
        if (status === 200) this.held.set(name, body);
        else if (status === 404) this.held.delete(name);
        if (status === 200 || status === 404) return;
      } catch {
        // The server is unavailable.
      }
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.finished;
  }
}
