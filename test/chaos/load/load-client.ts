/**
 * One client: sequential random writes and reads, on any server, of a few objects that other
 * clients write as well. It records of every call only what the response proves: a write without a
 * response may have taken effect.
 */
import type { WriteOperation } from '../../history/history.js';
import type { Random } from '../support/random.js';
import { type Answer, NoResponse, type ServerClient } from '../support/server-client.js';
import { sleep } from '../support/wait.js';
import { collectionPath, dataOf, type LoadObject, loadKeys, objectPath } from './keys.js';
import type { LoadClientOptions } from './load-client-options.js';
import type { LoadTarget } from './load-target.js';
import type { NotedWrite, Notes } from './notes.js';
import { Reader } from './reader.js';
import { coloredValue, colors, labelsOf, labelsPatchOf } from './selectors.js';

interface Held {
  readonly uid: string;
  readonly revision: number;
}

const afterFailureMs = 30;

export class LoadClient {
  private readonly held = new Map<string, Held>();
  private readonly reader: Reader;
  private sequence = 0;
  private running = true;
  private readonly finished: Promise<void>;

  constructor(
    private readonly client: ServerClient,
    private readonly notes: Notes,
    private readonly random: Random,
    private readonly options: LoadClientOptions,
  ) {
    this.reader = new Reader(client, notes, random, options, (key, object) =>
      this.learn(key, object),
    );
    this.finished = this.loop();
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.finished;
  }

  private async loop(): Promise<void> {
    while (this.running) {
      const { home } = this.options;
      const targets = this.options
        .targets()
        .filter(({ name }) => home === undefined || name === home);
      if (targets.length === 0) {
        await sleep(afterFailureMs);
        continue;
      }
      const target = this.random.pick(targets);
      const went = await (this.random.next() < 0.55
        ? this.write(target)
        : this.reader.read(target));
      await sleep(went ? this.options.thinkMs * this.random.next() * 2 : afterFailureMs);
    }
  }

  private write(target: LoadTarget): Promise<boolean> {
    const key = this.random.pick(loadKeys);
    const held = this.held.get(key);
    const choice = this.random.next();
    if (choice < 0.15) return this.patch(target, key);
    if (!held) return this.create(target, key);
    if (choice < 0.8) return this.update(target, key, held);
    return this.delete(target, key, held);
  }

  private create({ url }: LoadTarget, key: string): Promise<boolean> {
    const value = this.nextValue();
    const [resource = ''] = key.split('/');
    return this.call(
      { kind: 'put', key, value, expect: 'absent' },
      () =>
        this.client.send('POST', `${url}${collectionPath(resource)}`, {
          body: this.object(key, value),
          timeoutMs: this.options.timeoutMs,
        }),
      [201],
    );
  }

  private update({ url }: LoadTarget, key: string, held: Held): Promise<boolean> {
    const value = this.nextValue();
    return this.call(
      { kind: 'put', key, value, expect: held.revision },
      () =>
        this.client.send('PUT', `${url}${objectPath(key)}`, {
          body: this.object(key, value, String(held.revision)),
          timeoutMs: this.options.timeoutMs,
        }),
      [200],
    );
  }

  /** Patches without a version: the server retries on conflicts. */
  private patch({ url }: LoadTarget, key: string): Promise<boolean> {
    const value = this.nextValue();
    return this.call(
      { kind: 'put', key, value },
      () =>
        this.client.send('PATCH', `${url}${objectPath(key)}`, {
          body: { metadata: { labels: labelsPatchOf(value) }, data: dataOf(key, value) },
          contentType: 'application/merge-patch+json',
          timeoutMs: this.options.timeoutMs,
        }),
      [200],
    );
  }

  private delete({ url }: LoadTarget, key: string, held: Held): Promise<boolean> {
    const isExact = this.random.next() < 0.5;
    const { uid, revision } = held;
    return this.call(
      { kind: 'delete', key, ...(isExact && { expect: revision }) },
      () =>
        this.client.send('DELETE', `${url}${objectPath(key)}`, {
          body: {
            preconditions: { uid, ...(isExact && { resourceVersion: String(revision) }) },
          },
          timeoutMs: this.options.timeoutMs,
        }),
      [200],
      uid,
    );
  }

  /** Returns whether the server applied it or refused it because of the objects. */
  private async call(
    operation: WriteOperation,
    send: () => Promise<Answer>,
    done: readonly number[],
    deletedUid?: string,
  ): Promise<boolean> {
    const { key } = operation;
    const write = this.notes.begin(this.options.id, [operation]);
    let answer: Answer;
    try {
      answer = await send();
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      this.held.delete(key);
      this.notes.end(
        write,
        error.neverSent ? { kind: 'refused', reason: error.message } : { kind: 'unknown' },
      );
      return false;
    }
    if (done.includes(answer.status)) {
      this.done(write, key, answer.body as LoadObject, deletedUid);
      return true;
    }
    this.held.delete(key);
    return this.notDone(write, answer);
  }

  private done(write: NotedWrite, key: string, object: LoadObject, deletedUid?: string): void {
    if (deletedUid !== undefined) {
      write.deletedUid = deletedUid;
      // Its revision is determined when all events have arrived.
      this.notes.end(write, { kind: 'applied', revision: Number.NaN });
      this.held.delete(key);
      return;
    }
    const revision = Number(object.metadata.resourceVersion);
    this.notes.end(write, { kind: 'applied', revision });
    this.learn(key, object);
  }

  private notDone(write: NotedWrite, { status, body }: Answer): boolean {
    const reason = `${status} ${JSON.stringify(body).slice(0, 300)}`;
    switch (status) {
      case 409:
        this.notes.end(write, {
          kind: 'conflict',
          operation: 0,
          revision: undefined,
          current: undefined,
        });
        return true;
      case 404:
        this.notes.end(write, { kind: 'refused', reason });
        return true;
      case 429:
      case 503:
      case 507:
        this.notes.end(write, { kind: 'refused', reason });
        return false;
      case 504:
        this.notes.end(write, { kind: 'unknown' });
        return false;
      default:
        this.notes.surprise(`${write.client} ${JSON.stringify(write.operations)}: ${reason}`);
        this.notes.end(write, { kind: 'unknown' });
        return false;
    }
  }

  private learn(key: string, object: LoadObject | undefined): void {
    if (!object) {
      this.held.delete(key);
      return;
    }
    const { uid, resourceVersion } = object.metadata;
    this.held.set(key, { uid, revision: Number(resourceVersion) });
  }

  private nextValue(): string {
    this.sequence += 1;
    return coloredValue(this.options.id, this.sequence, this.random.pick(colors));
  }

  private object(key: string, value: string, resourceVersion?: string) {
    const [, name] = key.split('/');
    return {
      metadata: {
        name,
        labels: labelsOf(value),
        ...(resourceVersion !== undefined && { resourceVersion }),
      },
      data: dataOf(key, value),
    };
  }
}
