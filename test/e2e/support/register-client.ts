/**
 * A client of a few shared objects, each a register: it reads, creates, changes the version that it
 * last read, and deletes, at random and against other clients. It records when each call began and
 * ended, and whether it took effect, did not, or may have.
 */
import type { Api } from './api.js';
import type { WatchedObject } from './watch-client.js';

export type Verb = 'create' | 'update' | 'delete' | 'get';

export interface Call {
  readonly verb: Verb;
  readonly name: string;
  /** Unique to this call; writes store it in the object. */
  readonly tag: string;
  readonly startMs: number;
  endMs: number;
  /** `refused`: certainly without effect; `odd`: an unexpected response. */
  outcome: 'done' | 'refused' | 'unknown' | 'odd';
  /** The version that an update or deletion requires. */
  readonly base: number | undefined;
  /**
   * The version that a write created or a read returned; absent for deletions and missing objects.
   */
  revision?: number;
  uid?: string;
  answer?: string;
}

const path = '/api/v1/namespaces/default/configmaps';
const doneCodes: Record<Verb, readonly number[]> = {
  create: [201],
  update: [200],
  delete: [200],
  get: [200, 404],
};

export class RegisterClient {
  readonly calls: Call[] = [];
  /** Versions of the cluster that were lower than an earlier one. */
  readonly regressions: number[] = [];
  answeredCount = 0;
  private highest = 0;
  private readonly held = new Map<string, WatchedObject>();
  private running = true;
  private readonly finished: Promise<void>;

  constructor(
    private readonly api: Api,
    private readonly id: string,
    private readonly names: readonly string[],
  ) {
    this.finished = this.loop();
  }

  private async loop(): Promise<void> {
    for (let turn = 0; this.running; turn += 1) {
      const name = this.names[Math.floor(Math.random() * this.names.length)]!;
      await this.call(this.choose(name), name, `${this.id}.${turn}`);
      if (turn % 20 === 0) await this.checkRevision();
    }
  }

  private choose(name: string): Verb {
    const dice = Math.random();
    if (dice < 0.3) return 'get';
    if (!this.held.has(name)) return 'create';
    return dice < 0.85 ? 'update' : 'delete';
  }

  private async call(verb: Verb, name: string, tag: string): Promise<void> {
    const held = this.held.get(name);
    const base = verb === 'update' || verb === 'delete' ? held?.metadata : undefined;
    const call: Call = {
      verb,
      name,
      tag,
      startMs: performance.now(),
      endMs: Number.POSITIVE_INFINITY,
      outcome: 'unknown',
      base: base && Number(base.resourceVersion),
    };
    this.calls.push(call);
    try {
      const { status, body } = await this.send(call, base);
      call.endMs = performance.now();
      this.answeredCount += 1;
      this.note(call, status, body, base?.uid);
    } catch {
      // No response: it may have taken effect, or may take effect later.
      this.held.delete(name);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  private send({ verb, name, tag }: Call, base: WatchedObject['metadata'] | undefined) {
    const { api } = this;
    const metadata = { name, ...(base && { resourceVersion: base.resourceVersion }) };
    const object = { metadata, data: { tag } };
    switch (verb) {
      case 'get':
        return api.call<WatchedObject>('GET', `${path}/${name}`);
      case 'create':
        return api.call<WatchedObject>('POST', path, object);
      case 'update':
        return api.call<WatchedObject>('PUT', `${path}/${name}`, object);
      case 'delete': {
        const preconditions = { uid: base?.uid, resourceVersion: base?.resourceVersion };
        return api.call<WatchedObject>('DELETE', `${path}/${name}`, { preconditions });
      }
    }
  }

  private note(call: Call, status: number, body: WatchedObject, uid: string | undefined): void {
    const { verb, name } = call;
    const isDone = doneCodes[verb].includes(status);
    if (isDone) call.outcome = 'done';
    else if (status === 404 || status === 409 || status === 503) call.outcome = 'refused';
    else if (status !== 504) {
      call.outcome = 'odd';
      call.answer = `${status} ${JSON.stringify(body)}`;
    }
    if (!isDone || status === 404 || verb === 'delete') {
      this.held.delete(name);
      if (isDone && uid !== undefined) call.uid = uid;
      return;
    }
    this.held.set(name, body);
    call.revision = Number(body.metadata.resourceVersion);
    call.uid = body.metadata.uid;
  }

  private async checkRevision(): Promise<void> {
    try {
      const { status, body } = await this.api.call<WatchedObject>('GET', `${path}?limit=1`);
      if (status !== 200) return;
      const revision = Number(body.metadata.resourceVersion);
      if (revision < this.highest) this.regressions.push(revision);
      this.highest = Math.max(this.highest, revision);
    } catch {
      // The server is unavailable; the next check counts.
    }
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.finished;
  }
}
