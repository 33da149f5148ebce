/** What waits for a peer: in order, bounded, a frame's worth at a time. */

import { describe, expect, it } from 'vitest';
import { asMemberId, branded } from '../../core/brands.js';
import { ToPeerCodec } from '../generated/wire.js';
import { appendMessage } from '../grpc/testing/transport-end.js';
import { frameBytesTarget, queueBytesMax, queueMessagesMax } from '../limits.js';
import { encodeFrame } from '../wire/frame.js';
import { MessageQueue, messageBytes } from './message-queue.js';

const message = (at: number) => appendMessage(asMemberId('a'), asMemberId('b'), at + 1, 1, 10);

describe('the queue of a peer', () => {
  it('gives frames in order: as many as fit, at least one', () => {
    const queue = new MessageQueue();
    const sizes = [frameBytesTarget / 2, frameBytesTarget / 2, 1, frameBytesTarget * 3, 5];
    for (const [at, bytes] of sizes.entries()) queue.push(message(at), bytes);
    expect(queue.takeFrame()).toEqual([message(0), message(1)]);
    expect(queue.takeFrame()).toEqual([message(2)]);
    expect(queue.takeFrame()).toEqual([message(3)]);
    expect(queue.byteCount).toBe(5);
    expect(queue.takeFrame()).toEqual([message(4)]);
    expect([queue.length, queue.byteCount, queue.takeFrame()]).toEqual([0, 0, []]);
  });

  it('drops all that waits when one more does not fit, by count and by bytes', () => {
    const queue = new MessageQueue();
    for (let at = 0; at < queueMessagesMax; at += 1) expect(queue.push(message(at), 1)).toBe(0);
    expect(queue.push(message(queueMessagesMax), 1)).toBe(queueMessagesMax);
    expect(queue.takeFrame()).toEqual([message(queueMessagesMax)]);
    expect(queue.push(message(0), queueBytesMax)).toBe(0);
    expect(queue.push(message(1), 1)).toBe(1);
    expect(queue.takeFrame()).toEqual([message(1)]);
  });

  it('counts no message smaller than it is on the wire', () => {
    const ids = Array.from({ length: 50 }, (_, at) => Number.MAX_SAFE_INTEGER - at);
    const common = { from: 'a'.repeat(16), to: 'b'.repeat(16), term: Number.MAX_SAFE_INTEGER };
    const append = appendMessage(
      asMemberId(common.from),
      asMemberId(common.to),
      2 ** 52,
      100,
      1_000,
    );
    for (const each of [
      append,
      { kind: 'proposeRefusal', ...common, ids, code: 'TooLarge' } as const,
      {
        kind: 'proposeRequest',
        ...common,
        commands: ids.map((id) => ({ id, data: Buffer.alloc(100) })),
      } as const,
    ]) {
      const frame = encodeFrame(ToPeerCodec, { messages: [each] });
      expect(messageBytes(branded(each))).toBeGreaterThanOrEqual(frame.length);
    }
  });
});
