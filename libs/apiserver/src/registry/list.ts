/**
 * Reading collections: whole, in chunks, selected; at the consistency the request asked for. Selecting
 * looks at every object below the prefix, so it lets the event loop go at fixed intervals.
 */
import { StatusError, tooLargeResourceVersion } from '@orch/apimachinery';
import {
  type Entry,
  type ListResult,
  type ReadConsistency,
  type Revision,
  StoreError,
} from '@orch/store';
import { listPageEntries, resourceVersionWaitMs, selectorScanBatch } from '../limits.js';
import { encodeContinueToken } from '../request/continue-token.js';
import type { ListRequest } from '../request/list-options.js';
import type { RegistryParts } from './registry-parts.js';
import { timeLeftMs } from './registry-parts.js';
import type { ServedResource } from './resource.js';
import type { Selection } from './selection.js';

export interface ListOutcome {
  readonly entries: readonly Entry[];
  readonly revision: Revision;
  /** Empty when the list is complete. */
  readonly continueToken: string;
  /** Present when it is known how many follow. */
  readonly remainingCount: number | undefined;
}

/** A continue token whose version is gone; `token` goes on from the latest state instead. */
export class ExpiredContinueError extends StatusError {
  constructor(readonly token: string) {
    super({
      code: 410,
      reason: 'Expired',
      message:
        'the continue token is too old for a consistent list: list again without it, or go on with the token in this answer, whose items may not fit those already received',
    });
  }
}

/** Throws StatusError (410, 504) and StoreError. */
export async function listObjects(
  parts: RegistryParts,
  served: ServedResource,
  namespace: string,
  request: ListRequest,
  selection: Selection,
  deadlineMs: number,
): Promise<ListOutcome> {
  const scope = namespace !== '' ? namespace : (selection.namespace ?? '');
  const prefix = served.resource.prefix(scope);
  try {
    if (selection.everything) return await listAll(parts, prefix, request, deadlineMs);
    const { name } = selection;
    if (name !== undefined && (scope !== '' || !served.definition.namespaced)) {
      const key = served.resource.key(scope, name);
      return await listOne(parts, key, request, selection, deadlineMs);
    }
    return await listSelected(parts, prefix, request, selection, deadlineMs);
  } catch (error) {
    throw listFailure(error, request);
  }
}

/** How long a read may wait: for a version it waits less than the whole deadline. */
function waitMs(parts: RegistryParts, consistency: ReadConsistency, deadlineMs: number): number {
  const leftMs = timeLeftMs(parts, deadlineMs);
  const forVersion = consistency.kind === 'notOlderThan' || consistency.kind === 'exact';
  return forVersion ? Math.min(leftMs, resourceVersionWaitMs) : leftMs;
}

async function listAll(
  parts: RegistryParts,
  prefix: string,
  request: ListRequest,
  deadlineMs: number,
): Promise<ListOutcome> {
  const { consistency, limit, continueFrom } = request;
  const result = await parts.store.list(prefix, {
    consistency,
    timeoutMs: waitMs(parts, consistency, deadlineMs),
    ...(limit > 0 && { limit }),
    ...(continueFrom && { startAfter: prefix + continueFrom.startAfter }),
  });
  const more = limit > 0 && result.remainingCount > 0;
  return {
    entries: result.entries,
    revision: result.revision,
    continueToken: more ? tokenAfter(prefix, result) : '',
    remainingCount:
      more && parts.features.enabled('RemainingItemCount') ? result.remainingCount : undefined,
  };
}

function tokenAfter(prefix: string, { revision, entries }: ListResult): string {
  const last = entries.at(-1);
  return last ? encodeContinueToken({ revision, startAfter: last.key.slice(prefix.length) }) : '';
}

async function listOne(
  parts: RegistryParts,
  key: string,
  { consistency }: ListRequest,
  selection: Selection,
  deadlineMs: number,
): Promise<ListOutcome> {
  const { entry, revision } = await parts.store.get(key, {
    consistency,
    timeoutMs: waitMs(parts, consistency, deadlineMs),
  });
  return {
    entries: entry && selection.matches(entry) ? [entry] : [],
    revision,
    continueToken: '',
    remainingCount: undefined,
  };
}

async function listSelected(
  parts: RegistryParts,
  prefix: string,
  request: ListRequest,
  selection: Selection,
  deadlineMs: number,
): Promise<ListOutcome> {
  const { limit } = request;
  const entries: Entry[] = [];
  let consistency = request.consistency;
  let startAfter = request.continueFrom && prefix + request.continueFrom.startAfter;
  for (;;) {
    const page = await parts.store.list(prefix, {
      consistency,
      timeoutMs: waitMs(parts, consistency, deadlineMs),
      limit: listPageEntries,
      ...(startAfter !== undefined && { startAfter }),
    });
    const { revision } = page;
    for (const [index, entry] of page.entries.entries()) {
      if (index % selectorScanBatch === selectorScanBatch - 1) await nextTurn();
      if (!selection.matches(entry)) continue;
      entries.push(entry);
      if (limit === 0 || entries.length < limit) continue;
      const more = index < page.entries.length - 1 || page.remainingCount > 0;
      const rest = entry.key.slice(prefix.length);
      return {
        entries,
        revision,
        continueToken: more ? encodeContinueToken({ revision, startAfter: rest }) : '',
        remainingCount: undefined,
      };
    }
    if (page.remainingCount === 0) {
      return { entries, revision, continueToken: '', remainingCount: undefined };
    }
    startAfter = page.entries.at(-1)?.key;
    consistency = { kind: 'exact', revision };
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function listFailure(error: unknown, { consistency, continueFrom, limit }: ListRequest): unknown {
  if (!(error instanceof StoreError)) return error;
  if (error.code === 'Compacted' && continueFrom) {
    const { startAfter } = continueFrom;
    return new ExpiredContinueError(encodeContinueToken({ revision: undefined, startAfter }));
  }
  if (error.code === 'FutureRevision' && continueFrom?.revision !== undefined) {
    // The token of a replica that is ahead of this one: a matter of time or of asking another.
    return tooLargeResourceVersion(continueFrom.revision, error.revision ?? 0, 1);
  }
  return versionFailure(error, consistency, limit > 0);
}

/** Errors of reads at a version: too new for this replica. */
export function versionFailure(
  error: unknown,
  consistency: ReadConsistency,
  chunked: boolean,
): unknown {
  if (!(error instanceof StoreError) || error.code !== 'FutureRevision') return error;
  const current = error.revision ?? 0;
  if (consistency.kind === 'exact') {
    return new StatusError({
      code: 410,
      reason: 'Expired',
      message: `Too large resource version: ${consistency.revision}, current: ${current}`,
    });
  }
  if (consistency.kind !== 'notOlderThan') return error;
  return tooLargeResourceVersion(consistency.revision, current, chunked ? undefined : 1);
}
