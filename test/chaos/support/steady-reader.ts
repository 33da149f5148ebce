/** Lists at revision 0 from some servers repeatedly and records every missing response. */
import { collectionPath } from '../load/keys.js';
import type { ChaosCluster, Member } from './chaos-cluster.js';
import { NoResponse, ServerClient } from './server-client.js';
import { sleep } from './wait.js';

const pauseMs = 20;
const path = `${collectionPath('configmaps')}?resourceVersion=0`;

export class SteadyReader {
  answered = 0;
  longestMs = 0;
  readonly failures: string[] = [];
  private running = false;
  private loops: Promise<void>[] = [];
  private readonly client: ServerClient;

  constructor(cluster: ChaosCluster) {
    this.client = new ServerClient(cluster.certificates.authorityPem, 1);
  }

  start(members: readonly Member[]): void {
    this.running = true;
    this.loops = members.map((member) => this.ask(member));
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.loops);
  }

  private async ask({ name, url }: Member): Promise<void> {
    while (this.running) {
      const startedMs = performance.now();
      try {
        const { status } = await this.client.send('GET', `${url}${path}`);
        if (status === 200) this.answered += 1;
        else this.failures.push(`${name}: ${status}`);
      } catch (error) {
        if (!(error instanceof NoResponse)) throw error;
        this.failures.push(`${name}: ${error.message}`);
      }
      this.longestMs = Math.max(this.longestMs, performance.now() - startedMs);
      await sleep(pauseMs);
    }
  }
}
