import { CheckedStreamWriter } from '@orch/raft';
import { expect, it } from 'vitest';
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
  'a stream with the header %j is refused',
  (header) => {
    expect(() => new StateStreamReader().take(streamWith(header))).toThrow(StoreError);
  },
);
