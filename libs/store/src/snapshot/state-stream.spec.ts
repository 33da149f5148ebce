import { CheckedStreamWriter } from '@orch/raft';
import { expect, it } from 'vitest';
import { emptyFacts } from '../core/state-machine.js';
import { StoreError } from '../versioned-store.js';
import { StateStreamReader } from './state-stream.js';

/** A stream whose chunks are right, with this header. */
function streamWith(header: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(header.length);
  const writer = new CheckedStreamWriter();
  const content = Buffer.concat([length, Buffer.from(header), Buffer.alloc(2)]);
  return Buffer.concat([writer.chunk(content), writer.trailer()]);
}

it.each(['', '{', 'null', '5', '[]', '{"format":"state-1"}'])(
  'StateStreamReader rejects a stream with the header %j',
  (header) => {
    expect(() => new StateStreamReader().take(streamWith(header))).toThrow(StoreError);
  },
);

it.each([
  [{ compactedRevision: 8 }, 0],
  [{ revision: -1 }, 0],
  [{ appliedIndex: 1.5 }, 0],
  [{ timeMs: '5' }, 0],
  [{ hash: undefined }, 0],
  [{}, -1],
])('StateStreamReader rejects the facts %j with the swept revision %d', (wrong, sweptRevision) => {
  const right = { ...emptyFacts, revision: 7, appliedIndex: 9 };
  const streamOf = (facts: object, swept: number) =>
    streamWith(JSON.stringify({ format: 'state-2', facts, sweptRevision: swept }));
  expect(() => new StateStreamReader().take(streamOf(right, 0))).not.toThrow();
  expect(() =>
    new StateStreamReader().take(streamOf({ ...right, ...wrong }, sweptRevision)),
  ).toThrow(StoreError);
});
