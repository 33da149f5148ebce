/**
 * Which writes of a quota were all made by this server, one after the other. The usage of such a
 * quota still contains every charge of the run. After a write of another client, such as a recount
 * by the quota controller, it may not.
 */
import type { Revision } from '@orch/store';
import { LRUCache } from 'lru-cache';
import { ownWritesMax } from '../../limits.js';

interface Run {
  readonly first: Revision;
  readonly last: Revision;
}

export class OwnWrites {
  private readonly runs = new LRUCache<string, Run>({ max: ownWritesMax });

  /** Records that this server replaced revision `before` of the quota by `after`. */
  wrote(key: string, before: Revision, after: Revision): void {
    const run = this.runs.get(key);
    this.runs.set(key, { first: run?.last === before ? run.first : after, last: after });
  }

  /** Whether the quota at `current` still contains a charge that was written at `written`. */
  contain(key: string, written: Revision, current: Revision): boolean {
    const run = this.runs.get(key);
    return run !== undefined && run.last === current && run.first <= written;
  }
}
