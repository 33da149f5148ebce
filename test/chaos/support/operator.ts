/** What an operator sees and does through `/cluster/*`, health and metrics of the servers. */
import type {
  ClusterCheck,
  ClusterView,
  MemberView,
} from '../../../apps/apiserver/src/cluster/cluster-operations.js';
import { NoAnswer, type ServerClient } from './server-client.js';

const statusTimeoutMs = 4_000;
const checkAttemptsMax = 5;

export class Operator {
  constructor(
    private readonly client: ServerClient,
    /** Of servers that may answer. */
    private readonly urls: () => readonly string[],
  ) {}

  /** As one server tells it; undefined when it does not answer. */
  async statusAt(url: string): Promise<ClusterView | undefined> {
    try {
      const { status, body } = await this.client.send('GET', `${url}/cluster/status`, {
        timeoutMs: statusTimeoutMs,
      });
      return status === 200 ? (body as ClusterView) : undefined;
    } catch (error) {
      if (error instanceof NoAnswer) return undefined;
      throw error;
    }
  }

  /** The member that leads in the highest term that anybody tells of. */
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

  /** Tries each server in turn until one does it. Throws when none did. */
  async request<Result>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: unknown,
    timeoutMs = 30_000,
  ): Promise<Result> {
    let last = 'no server to ask';
    for (const url of this.urls()) {
      try {
        const answer = await this.client.send(method, `${url}${path}`, {
          timeoutMs,
          ...(body !== undefined && { body }),
        });
        if (answer.status < 300) return answer.body as Result;
        last = `${answer.status} ${JSON.stringify(answer.body)}`;
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        last = error.message;
      }
    }
    throw new Error(`${method} ${path}: ${last}`);
  }

  /** Of all members: asked again while one does not answer in time. */
  async check(): Promise<ClusterCheck> {
    for (let attempt = 1; ; attempt += 1) {
      const check = await this.request<ClusterCheck>('GET', '/cluster/check', undefined, 60_000);
      const isComplete = check.members.every(({ hash }) => hash !== undefined);
      if (isComplete || attempt === checkAttemptsMax) return check;
    }
  }

  /** Status of `/readyz`, `/livez` and the like; 0 when there is no answer. */
  async health(url: string, path: string): Promise<{ status: number; text: string }> {
    try {
      const { status, body } = await this.client.send('GET', `${url}${path}`, { timeoutMs: 3_000 });
      return { status, text: typeof body === 'string' ? body : JSON.stringify(body) };
    } catch (error) {
      if (error instanceof NoAnswer) return { status: 0, text: error.message };
      throw error;
    }
  }

  /** Sum of all series of one metric. Throws NoAnswer. */
  async metric(url: string, name: string, label = ''): Promise<number> {
    const { body } = await this.client.send('GET', `${url}/metrics`);
    return String(body)
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => line.includes(label))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }
}
