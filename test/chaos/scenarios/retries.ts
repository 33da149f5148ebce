/** Clients that retry until the outcome is certain: their counters must equal the stored ones. */
import { collectionPath } from '../load/keys.js';
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import { type Answer, NoResponse, type ServerClient } from '../support/server-client.js';
import { sleep } from '../support/wait.js';

const path = collectionPath('configmaps');
const counterCount = 4;
const againMs = 50;

interface Counter {
  readonly metadata: { readonly resourceVersion: string };
  readonly data: { readonly count: string };
}

/**
 * Increments its own counter repeatedly, by the version read, and reads after every unknown
 * outcome.
 */
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

  /** Returns the stored counter from any server that responds. */
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
        `${this.name}: counted ${this.count}, stored ${next - 1}`,
      );
      await this.set(before, next);
      this.count = next;
    }
  }

  /** Sends the same request until a response shows that it or an earlier attempt took effect. */
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
      // No other client changes it: a conflict means that an earlier attempt took effect.
      if (answer?.status === 409) return;
      await sleep(againMs);
    }
  }

  private async send(
    method: 'GET' | 'PUT' | 'POST',
    target: string,
    body?: unknown,
  ): Promise<Answer | undefined> {
    const members = this.run.cluster.responsive();
    if (members.length === 0) return undefined;
    const { url } = this.run.random.pick(members);
    try {
      return await this.client.send(method, url + target, {
        timeoutMs: 3_000,
        ...(body !== undefined && { body }),
      });
    } catch (error) {
      if (error instanceof NoResponse) return undefined;
      throw error;
    }
  }
}

export const retryScenarios: readonly Scenario[] = [
  {
    number: 32,
    name: 'retries',
    shows: 'writes that clients retry across failovers take effect once',
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
      run.expect(doubts > 0, 'no write was retried', 'the scenario shows nothing');
    },
  },
];
