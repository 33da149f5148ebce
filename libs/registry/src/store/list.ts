/**
 * Lists objects: all, in chunks, or the matches of a selection, at the requested consistency.
 * Selecting reads every object below the prefix, so it yields to the event loop at fixed intervals.
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
import { encodeContinueToken } from './continue-token.js';
import type { ListRequest } from './list-request.js';
import type { ObjectStorage } from './object-storage.js';
import type { Selection } from './selection.js';

export interface ListResponse {
  readonly entries: readonly Entry[];
  readonly revision: Revision;
  /** Empty when the list is complete. */
  readonly continueToken: string;
  /** Present when it is known how many follow. */
  readonly remainingCount: number | undefined;
}

/** A continue token whose version is compacted; `token` continues from the latest state instead. */
export class ExpiredContinueError extends StatusError {
  constructor(readonly token: string) {
    super({
      code: 410,
      reason: 'Expired',
      message:
        'the continue token is too old for a consistent list: list again without it, or continue with the token in this response, whose items may be inconsistent with those already received',
    });
  }
}

/** One list request on the objects of a served version. */
export interface ListQuery {
  /** Empty: all namespaces. */
  readonly namespace: string;
  readonly request: ListRequest;
  readonly selection: Selection;
  readonly deadlineMs: number;
}

/** Throws StatusError (410, 504) and StoreError. */
export async function listObjects(storage: ObjectStorage, query: ListQuery): Promise<ListResponse> {
  const { namespace, request, selection } = query;
  const { resource, definition } = storage.served;
  const scope = namespace !== '' ? namespace : (selection.namespace ?? '');
  const prefix = resource.prefix(scope);
  try {
    if (selection.everything) return await listAll(storage, prefix, query);
    const { name } = selection;
    if (name !== undefined && (scope !== '' || !definition.namespaced)) {
      return await listOne(storage, resource.key(scope, name), query);
    }
    return await listSelected(storage, prefix, query);
  } catch (error) {
    throw listFailure(error, request);
  }
}

/** How long a read may wait: for a version less than the whole deadline. */
function waitMs(storage: ObjectStorage, consistency: ReadConsistency, deadlineMs: number): number {
  const leftMs = storage.timeLeftMs(deadlineMs);
  const forVersion = consistency.kind === 'notOlderThan' || consistency.kind === 'exact';
  return forVersion ? Math.min(leftMs, resourceVersionWaitMs) : leftMs;
}

async function listAll(
  storage: ObjectStorage,
  prefix: string,
  { request, deadlineMs }: ListQuery,
): Promise<ListResponse> {
  const { consistency, limit, continueFrom } = request;
  const result = await storage.list(prefix, {
    consistency,
    timeoutMs: waitMs(storage, consistency, deadlineMs),
    ...(limit > 0 && { limit }),
    ...(continueFrom && { startAfter: prefix + continueFrom.startAfter }),
  });
  const more = limit > 0 && result.remainingCount > 0;
  const { features } = storage.dependencies;
  return {
    entries: result.entries,
    revision: result.revision,
    continueToken: more ? tokenAfter(prefix, result) : '',
    remainingCount:
      more && features.enabled('RemainingItemCount') ? result.remainingCount : undefined,
  };
}

function tokenAfter(prefix: string, { revision, entries }: ListResult): string {
  const last = entries.at(-1);
  return last ? encodeContinueToken({ revision, startAfter: last.key.slice(prefix.length) }) : '';
}

async function listOne(
  storage: ObjectStorage,
  key: string,
  { request: { consistency }, selection, deadlineMs }: ListQuery,
): Promise<ListResponse> {
  const timeoutMs = waitMs(storage, consistency, deadlineMs);
  const { entry, revision } = await storage.get(key, { consistency, timeoutMs });
  return {
    entries: entry && selection.matches(entry) ? [entry] : [],
    revision,
    continueToken: '',
    remainingCount: undefined,
  };
}

async function listSelected(
  storage: ObjectStorage,
  prefix: string,
  { request, selection, deadlineMs }: ListQuery,
): Promise<ListResponse> {
  const { limit } = request;
  const entries: Entry[] = [];
  let consistency = request.consistency;
  let startAfter = request.continueFrom && prefix + request.continueFrom.startAfter;
  for (;;) {
    const page = await storage.list(prefix, {
      consistency,
      timeoutMs: waitMs(storage, consistency, deadlineMs),
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
    // The token is from a replica that is ahead of this one: the client can wait or use another
    // one.
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
