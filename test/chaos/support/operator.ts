/** Operator requests to `/cluster/*`, health and metrics of the servers. */
import type {
  ClusterCheck,
  ClusterView,
  MemberView,
} from '../../../apps/apiserver/src/cluster/cluster-operations.js';
import { NoResponse, type ServerClient } from './server-client.js';

const statusTimeoutMs = 4_000;
const checkAttemptsMax = 5;

export class Operator {
  constructor(
    private readonly client: ServerClient,
    /** URLs of servers that may respond. */
    private readonly urls: () => readonly string[],
  ) {}

  /** Returns the status of one server; undefined if it does not respond. */
  async statusAt(url: string): Promise<ClusterView | undefined> {
    try {
      const { status, body } = await this.client.send('GET', `${url}/cluster/status`, {
        timeoutMs: statusTimeoutMs,
      });
      return status === 200 ? (body as ClusterView) : undefined;
    } catch (error) {
      if (error instanceof NoResponse) return undefined;
      throw error;
    }
  }

  /** Returns the leader of the highest reported term. */
  async leader(): Promise<MemberView | undefined> {
    const views = await Promise.all(this.urls().map((url) => this.statusAt(url)));
    let best: MemberView | undefined;
    for (const view of views) {
      for (const member of view?.members ?? []) {
        if (member.role !== 'leader' || member.term === undefined) continue;
        if (!best || member.term > (best.term ?? 0)) best = member;
      }
    }
    return best;
  }

  /** Tries the servers sequentially until one succeeds. Throws if none does. */
  async request<Result>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: unknown,
    timeoutMs = 30_000,
  ): Promise<Result> {
    let last = 'no server is available';
    for (const url of this.urls()) {
      try {
        const answer = await this.client.send(method, `${url}${path}`, {
          timeoutMs,
          ...(body !== undefined && { body }),
        });
        if (answer.status < 300) return answer.body as Result;
        last = `${answer.status} ${JSON.stringify(answer.body)}`;
      } catch (error) {
        if (!(error instanceof NoResponse)) throw error;
        last = error.message;
      }
    }
    throw new Error(`${method} ${path}: ${last}`);
  }

  /** Compares all members. Retries while one does not respond in time. */
  async check(): Promise<ClusterCheck> {
    for (let attempt = 1; ; attempt += 1) {
      const check = await this.request<ClusterCheck>('GET', '/cluster/check', undefined, 60_000);
      const isComplete = check.members.every(({ hash }) => hash !== undefined);
      if (isComplete || attempt === checkAttemptsMax) return check;
    }
  }

  /** Returns the status of `/readyz`, `/livez` and similar paths; 0 without a response. */
  async health(url: string, path: string): Promise<{ status: number; text: string }> {
    try {
      const { status, body } = await this.client.send('GET', `${url}${path}`, { timeoutMs: 3_000 });
      return { status, text: typeof body === 'string' ? body : JSON.stringify(body) };
    } catch (error) {
      if (error instanceof NoResponse) return { status: 0, text: error.message };
      throw error;
    }
  }

  /** Returns the sum of all series of one metric. Throws NoResponse. */
  async metric(url: string, name: string, label = ''): Promise<number> {
    const { body } = await this.client.send('GET', `${url}/metrics`);
    return String(body)
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => line.includes(label))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }
}
