/**
 * Converts a commit to one transaction of etcd, and the response to the store's result. Pure.
 * Invariant: one transaction has all comparisons, writes and reads, so that it takes effect as a
 * whole and a failed expectation reports the value of that same revision.
 */
import type {
  CommitResult,
  Entry,
  Expectation,
  Operation,
  Revision,
} from '../../versioned-store.js';
import {
  type Compare,
  compareResult,
  compareTarget,
  type RequestOp,
  type ResponseOp,
  type TxnRequest,
  type TxnResponse,
} from '../client/messages.js';
import { entryOf } from '../layout/changes.js';
import { decodeValue, EtcdEntry, encodeValue } from '../layout/etcd-entry.js';
import {
  decodeFinal,
  encodeFinal,
  type KeyLayout,
  toEtcdRevision,
  toStoreRevision,
} from '../layout/key-layout.js';

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

/** Counts the keys per time to live of the operations. */
export function timesToLive(operations: readonly Operation[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const operation of operations) {
    if (operation.kind !== 'put' || operation.timeToLiveMs === undefined) continue;
    counts.set(operation.timeToLiveMs, (counts.get(operation.timeToLiveMs) ?? 0) + 1);
  }
  return counts;
}

/** Returns the transaction with its puts under the leases of their times to live. */
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

/** Puts the final version only if the key exists, because it would be a change by itself. */
function deletionOf(
  operation: Operation & { kind: 'delete' },
  key: Buffer,
  finalKey: Buffer | undefined,
): RequestOp {
  const deletion: RequestOp = { requestDeleteRange: { key, prevKv: true } };
  const { lastBytes, revisionOffset = 0 } = operation;
  if (lastBytes === undefined || finalKey === undefined) return deletion;
  const value = encodeFinal(operation.key, encodeValue({ payload: lastBytes, revisionOffset }));
  const exists: Compare = {
    key,
    target: compareTarget.version,
    result: compareResult.greater,
    version: 0,
  };
  return {
    requestTxn: {
      compare: [exists],
      success: [{ requestPut: { key: finalKey, value } }, deletion],
      failure: [],
    },
  };
}

/** `known` returns an entry that is in memory already, so that it is shared. */
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
    const [op, response] = [request.success[at], responses[at]];
    if (!op || !response) throw new Error('etcd returned no response for an operation');
    if (kind === 'delete') return deletedEntry(key, op, response, revision);
    return known(key, revision) ?? putEntry(key, op, response, revision);
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
  throw new Error('etcd refused a transaction although every expectation holds');
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
  response: ResponseOp,
  revision: Revision,
): EtcdEntry | undefined {
  const deletion = response.responseTxn ? response.responseTxn.responses[1] : response;
  const kv = deletion?.responseDeleteRange?.prevKvs[0];
  if (!kv) return undefined;
  const final = requestTxn?.success[0]?.requestPut?.value;
  const value = final ? decodeFinal(final).value : kv.value;
  return EtcdEntry.of(key, decodeValue(key, value), toStoreRevision(kv.createRevision), revision);
}
