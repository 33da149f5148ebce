/** Clients that try again until they know: what they count must be what the store counts. */
import { collectionPath } from '../load/keys.js';
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import { type Answer, NoAnswer, type ServerClient } from '../support/server-client.js';
import { sleep } from '../support/wait.js';

const path = collectionPath('configmaps');
const counterCount = 4;
const againMs = 50;

interface Counter {
  readonly metadata: { readonly resourceVersion: string };
  readonly data: { readonly count: string };
}

/** Adds one to a counter of its own, again and again: it changes the version read, and reads after every doubt. */
class CountingClient {
  count = 0;
  doubts = 0;
  private running = true;
  private readonly finished: Promise<void>;

  constructor(
    private readonly run: Run,
    private readonly client: ServerClient,
    private readonly name: string,
  ) {
    this.finished = this.loop();
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.finished;
  }

  /** What the store says, from a server that answers. */
  async stored(): Promise<Counter | undefined> {
    for (;;) {
      const answer = await this.send('GET', `${path}/${this.name}`);
      if (answer?.status === 200) return answer.body as Counter;
      if (answer?.status === 404) return undefined;
      await sleep(againMs);
    }
  }

  private async loop(): Promise<void> {
    while (this.running) {
      const before = await this.stored();
      const next = Number(before?.data.count ?? 0) + 1;
      this.run.expect(
        next === this.count + 1,
        'counted wrong',
        `${this.name}: ${this.count} were counted, ${next - 1} are stored`,
      );
      await this.set(before, next);
      this.count = next;
    }
  }

  /** Sends the same request until an answer tells that it, or an earlier try, was done. */
  private async set(before: Counter | undefined, next: number): Promise<void> {
    const object = {
      metadata: { name: this.name, ...before?.metadata },
      data: { count: String(next) },
    };
    for (;;) {
      const answer = before
        ? await this.send('PUT', `${path}/${this.name}`, object)
        : await this.send('POST', path, object);
      if (answer?.status === 200 || answer?.status === 201) return;
      this.doubts += 1;
      // Nobody else changes it: a conflict means that an earlier try was done.
      if (answer?.status === 409) return;
      await sleep(againMs);
    }
  }

  private async send(
    method: 'GET' | 'PUT' | 'POST',
    target: string,
    body?: unknown,
  ): Promise<Answer | undefined> {
    const members = this.run.cluster.answering();
    if (members.length === 0) return undefined;
    const { url } = this.run.random.pick(members);
    try {
      return await this.client.send(method, url + target, {
        timeoutMs: 3_000,
        ...(body !== undefined && { body }),
      });
    } catch (error) {
      if (error instanceof NoAnswer) return undefined;
      throw error;
    }
  }
}

export const retryScenarios: readonly Scenario[] = [
  {
    number: 32,
    name: 'retries',
    shows: 'clients that send the same write again across failovers do it once',
    gate: { acknowledged: 200, faults: 3, failovers: 3 },
    async run(run) {
      const counters = Array.from(
        { length: counterCount },
        (_, at) => new CountingClient(run, run.cluster.client, `counter-${at}`),
      );
      for (let round = 0; round < 3; round += 1) {
        const leader = await run.cluster.leader();
        const since = run.fault('kill the leader');
        await run.kill(leader);
        await run.writesBack(since);
        await run.work(1_000);
        await run.restart(leader);
      }
      for (const counter of counters) await counter.stop();
      let doubts = 0;
      for (const counter of counters) {
        const stored = Number((await counter.stored())?.data.count);
        run.expect(stored === counter.count, 'counted wrong', `${stored}, not ${counter.count}`);
        run.say(`${counter.count} counted with ${counter.doubts} doubts`);
        doubts += counter.doubts;
      }
      run.expect(doubts > 0, 'no write was ever tried again', 'the scenario shows nothing');
    },
  },
];
