/**
 * A commit as one transaction of etcd, and its answer as the store's result. Pure. Invariant: whatever is
 * compared, written and read back is in that one transaction, so that it takes effect as a whole and
 * a failed expectation is told from what was there at that moment.
 */
import type { CommitResult, Entry, Expectation, Operation, Revision } from '../versioned-store.js';
import { entryOf } from './changes.js';
import { decodeValue, EtcdEntry, encodeValue } from './etcd-entry.js';
import {
  decodeFinal,
  encodeFinal,
  type KeyLayout,
  toEtcdRevision,
  toStoreRevision,
} from './key-layout.js';
import {
  type Compare,
  compareResult,
  compareTarget,
  type RequestOp,
  type ResponseOp,
  type TxnRequest,
  type TxnResponse,
} from './messages.js';

/** Copies the bytes of the operations. */
export function transactionOf(operations: readonly Operation[], layout: KeyLayout): TxnRequest {
  const compare: Compare[] = [];
  const success: RequestOp[] = [];
  const failure: RequestOp[] = [];
  let finalCount = 0;
  for (const operation of operations) {
    const key = layout.entryKey(operation.key);
    if (operation.expect) {
      compare.push(comparisonOf(key, operation.expect));
      failure.push({ requestRange: { key, limit: 1 } });
    }
    if (operation.kind === 'put') {
      const { bytes, revisionOffset = 0 } = operation;
      const value = encodeValue({ payload: bytes, revisionOffset });
      success.push({ requestPut: { key, value, prevKv: true } });
    } else if (operation.kind === 'delete') {
      const hasFinal = operation.lastBytes !== undefined;
      success.push(deletionOf(operation, key, hasFinal ? layout.finalKey(finalCount) : undefined));
      if (hasFinal) finalCount += 1;
    }
  }
  return { compare, success, failure };
}

/** For each time to live among the operations how many keys have it. */
export function timesToLive(operations: readonly Operation[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const operation of operations) {
    if (operation.kind !== 'put' || operation.timeToLiveMs === undefined) continue;
    counts.set(operation.timeToLiveMs, (counts.get(operation.timeToLiveMs) ?? 0) + 1);
  }
  return counts;
}

/** The transaction with its puts under the lease of their time to live. */
export function underLeases(
  request: TxnRequest,
  operations: readonly Operation[],
  leases: ReadonlyMap<number, string>,
): TxnRequest {
  const changes = operations.filter(({ kind }) => kind !== 'check');
  const success = request.success.map((op, at) => {
    const change = changes[at];
    const timeToLiveMs = change?.kind === 'put' ? change.timeToLiveMs : undefined;
    const lease = timeToLiveMs === undefined ? undefined : leases.get(timeToLiveMs);
    if (!op.requestPut || lease === undefined) return op;
    return { requestPut: { ...op.requestPut, lease } };
  });
  return { ...request, success };
}

function comparisonOf(key: Buffer, expect: Expectation): Compare {
  const modRevision = expect.kind === 'absent' ? 0 : toEtcdRevision(expect.revision);
  return { key, target: compareTarget.mod, result: compareResult.equal, modRevision };
}

/** The final version is put only where there is something to delete, else it would be a change by itself. */
function deletionOf(
  operation: Operation & { kind: 'delete' },
  key: Buffer,
  finalKey: Buffer | undefined,
): RequestOp {
  const deletion: RequestOp = { requestDeleteRange: { key, prevKv: true } };
  const { lastBytes, revisionOffset = 0 } = operation;
  if (lastBytes === undefined || finalKey === undefined) return deletion;
  const value = encodeFinal(operation.key, encodeValue({ payload: lastBytes, revisionOffset }));
  const isThere: Compare = {
    key,
    target: compareTarget.version,
    result: compareResult.greater,
    version: 0,
  };
  return {
    requestTxn: {
      compare: [isThere],
      success: [{ requestPut: { key: finalKey, value } }, deletion],
      failure: [],
    },
  };
}

/** `known`: finds an entry that the reader has in memory already, so that it is shared. */
export function resultOf(
  operations: readonly Operation[],
  request: TxnRequest,
  { header, succeeded, responses }: TxnResponse,
  known: (key: string, revision: Revision) => Entry | undefined,
): CommitResult {
  const revision = toStoreRevision(header.revision);
  if (!succeeded) return failureOf(operations, responses, revision);
  let at = -1;
  const entries = operations.map(({ kind, key }) => {
    if (kind === 'check') return undefined;
    at += 1;
    const [asked, answer] = [request.success[at], responses[at]];
    if (!asked || !answer) throw new Error('etcd left an operation without an answer');
    if (kind === 'delete') return deletedEntry(key, asked, answer, revision);
    return known(key, revision) ?? putEntry(key, asked, answer, revision);
  });
  return { succeeded: true, revision, entries };
}

function failureOf(
  operations: readonly Operation[],
  responses: readonly ResponseOp[],
  revision: Revision,
): CommitResult {
  let at = 0;
  for (const [failedOperation, { key, expect }] of operations.entries()) {
    if (!expect) continue;
    const kv = responses[at]?.responseRange?.kvs[0];
    at += 1;
    const current = kv && entryOf(key, kv);
    const holds =
      expect.kind === 'absent' ? current === undefined : current?.revision === expect.revision;
    if (!holds) return { succeeded: false, revision, failedOperation, current };
  }
  throw new Error('etcd refused a transaction of which every expectation holds');
}

function putEntry(
  key: string,
  { requestPut }: RequestOp,
  { responsePut }: ResponseOp,
  revision: Revision,
): EtcdEntry | undefined {
  const previous = responsePut?.prevKv;
  const created = previous ? toStoreRevision(previous.createRevision) : revision;
  return requestPut && EtcdEntry.of(key, decodeValue(key, requestPut.value), created, revision);
}

function deletedEntry(
  key: string,
  { requestTxn }: RequestOp,
  answer: ResponseOp,
  revision: Revision,
): EtcdEntry | undefined {
  const deletion = answer.responseTxn ? answer.responseTxn.responses[1] : answer;
  const kv = deletion?.responseDeleteRange?.prevKvs[0];
  if (!kv) return undefined;
  const final = requestTxn?.success[0]?.requestPut?.value;
  const value = final ? decodeFinal(final).value : kv.value;
  return EtcdEntry.of(key, decodeValue(key, value), toStoreRevision(kv.createRevision), revision);
}
