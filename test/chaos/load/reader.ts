/** Reads of every consistency on any server, recorded for the checks: gets, lists, paged lists. */
import type { Consistency, Version } from '../../history/history.js';
import type { Random } from '../support/random.js';
import { type Answer, NoResponse, type ServerClient } from '../support/server-client.js';
import {
  collectionPath,
  isLoadKey,
  type LoadList,
  type LoadObject,
  loadKeys,
  objectPath,
  resources,
  versionOf,
} from './keys.js';
import type { LoadClientOptions } from './load-client-options.js';
import type { LoadTarget } from './load-target.js';
import type { Notes } from './notes.js';

/** Maximum age of exact reads: at the lowest valid write rate, less than the retained history. */
const exactWithinRevisions = 200;
const pagesMax = 50;

export class Reader {
  /** The highest revision that this client has seen. */
  private seen = 0;

  constructor(
    private readonly client: ServerClient,
    private readonly notes: Notes,
    private readonly random: Random,
    private readonly options: LoadClientOptions,
    private readonly learn: (key: string, object: LoadObject | undefined) => void,
  ) {}

  /** Returns whether the read succeeded. */
  async read(target: LoadTarget): Promise<boolean> {
    const choice = this.random.next();
    try {
      if (choice < 0.5) return await this.get(target);
      if (choice < 0.75) return await this.pages(target);
      return await this.list(target);
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      this.notes.failures.failedReads += 1;
      return false;
    }
  }

  private async get(target: LoadTarget): Promise<boolean> {
    const key = this.random.pick(loadKeys);
    const [resource = ''] = key.split('/');
    const isAny = this.random.next() < 0.2;
    const startedAt = this.notes.now();
    const answer = await this.ask(target, `${objectPath(key)}${isAny ? '?resourceVersion=0' : ''}`);
    const { status } = answer;
    if (status !== 200 && status !== 404) return this.failed(answer, 'get');
    const object = status === 200 ? (answer.body as LoadObject) : undefined;
    const found = object ? [versionOf(resource, object)] : [];
    this.note(target, startedAt, key, {
      consistency: { kind: isAny ? 'any' : 'quorum' },
      isList: false,
      revision: undefined,
      found,
    });
    if (!isAny) this.learn(key, object);
    return true;
  }

  private async list(target: LoadTarget): Promise<boolean> {
    const resource = this.random.pick(resources);
    const consistency = this.consistency();
    const startedAt = this.notes.now();
    const answer = await this.ask(target, `${collectionPath(resource)}?${query(consistency)}`);
    if (this.isExpired(answer)) return true;
    if (answer.status !== 200) return this.failed(answer, `list ${JSON.stringify(consistency)}`);
    const list = answer.body as LoadList;
    this.noteList(target, startedAt, resource, consistency, list, list.items);
    return true;
  }

  /** Reads a collection page by page, each page from another server. */
  private async pages(first: LoadTarget): Promise<boolean> {
    const resource = this.random.pick(resources);
    const consistency: Consistency = { kind: 'quorum' };
    const limit = this.random.between(1, 5);
    const startedAt = this.notes.now();
    let target = first;
    let page: LoadList | undefined;
    const items: LoadObject[] = [];
    let revision: string | undefined;
    for (let count = 0; count < pagesMax; count += 1) {
      const token = page?.metadata.continue;
      const search = new URLSearchParams({
        limit: String(limit),
        ...(token && { continue: token }),
      });
      const answer = await this.ask(target, `${collectionPath(resource)}?${search}`);
      if (this.isExpired(answer)) return true;
      if (answer.status !== 200) return this.failed(answer, 'page');
      page = answer.body as LoadList;
      revision ??= page.metadata.resourceVersion;
      if (page.metadata.resourceVersion !== revision) {
        this.notes.surprise(
          `page of ${resource} at ${revision} says it is at ${page.metadata.resourceVersion}`,
        );
        return true;
      }
      items.push(...page.items);
      if (!page.metadata.continue) {
        this.noteList(target, startedAt, resource, consistency, page, items);
        return true;
      }
      const targets = this.options.targets();
      if (targets.length > 0) target = this.random.pick(targets);
    }
    this.notes.surprise(`${resource} in pages of ${limit} did not end`);
    return true;
  }

  private consistency(): Consistency {
    const choice = this.random.next();
    if (choice < 0.4 || this.seen === 0) return { kind: 'quorum' };
    if (choice < 0.55) return { kind: 'any' };
    if (choice < 0.8) return { kind: 'notOlderThan', revision: this.seen };
    const revision = Math.max(1, this.seen - this.random.between(0, exactWithinRevisions));
    return { kind: 'exact', revision };
  }

  /**
   * A short history may be gone; a server that is behind returns the same for a future revision.
   */
  private isExpired({ status, body }: Answer): boolean {
    if (status !== 410) return false;
    return this.options.isHistoryShort || /^Too large/.test((body as { message: string }).message);
  }

  private ask({ url }: LoadTarget, path: string): Promise<Answer> {
    return this.client.send('GET', `${url}${path}`, { timeoutMs: this.options.timeoutMs });
  }

  private failed({ status, body }: Answer, what: string): boolean {
    this.notes.failures.failedReads += 1;
    if (status !== 503 && status !== 504 && status !== 429) {
      this.notes.surprise(`${what}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
    }
    return false;
  }

  private noteList(
    target: LoadTarget,
    startedAt: number,
    resource: string,
    consistency: Consistency,
    { metadata }: LoadList,
    items: readonly LoadObject[],
  ): void {
    const found = items
      .map((item) => versionOf(resource, item))
      .filter(({ key }) => isLoadKey(key));
    const revision = Number(metadata.resourceVersion);
    this.seen = Math.max(this.seen, revision);
    this.note(target, startedAt, `${resource}/`, { consistency, isList: true, revision, found });
  }

  private note(
    { name }: LoadTarget,
    startedAt: number,
    key: string,
    rest: {
      readonly consistency: Consistency;
      readonly isList: boolean;
      readonly revision: number | undefined;
      readonly found: readonly Version[];
    },
  ): void {
    for (const { revision } of rest.found) this.seen = Math.max(this.seen, revision);
    this.notes.read({ client: this.options.id, replica: name, startedAt, key, ...rest });
  }
}

function query(consistency: Consistency): string {
  switch (consistency.kind) {
    case 'quorum':
      return '';
    case 'any':
      return 'resourceVersion=0';
    case 'notOlderThan':
      return `resourceVersion=${consistency.revision}&resourceVersionMatch=NotOlderThan`;
    case 'exact':
      return `resourceVersion=${consistency.revision}&resourceVersionMatch=Exact`;
  }
}
