/** What waits for a peer: in order, bounded, a frame's worth at a time. */
import { describe, expect, it } from 'vitest';
import { encodeFrame } from './frame.js';
import { ToPeerCodec } from './generated/wire.js';
import { FRAME_BYTES_TARGET, QUEUE_BYTES_MAX, QUEUE_MESSAGES_MAX } from './limits.js';
import { MessageQueue, messageBytes } from './message-queue.js';
import { appendMessage } from './testing/transport-end.js';

const message = (index: number) => appendMessage('a', 'b', index, 1, 10);

describe('the queue of a peer', () => {
  it('gives frames in order: as many as fit, at least one', () => {
    const queue = new MessageQueue();
    const sizes = [FRAME_BYTES_TARGET / 2, FRAME_BYTES_TARGET / 2, 1, FRAME_BYTES_TARGET * 3, 5];
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
    for (let at = 0; at < QUEUE_MESSAGES_MAX; at += 1) expect(queue.push(message(at), 1)).toBe(0);
    expect(queue.push(message(-1), 1)).toBe(QUEUE_MESSAGES_MAX);
    expect(queue.takeFrame()).toEqual([message(-1)]);
    expect(queue.push(message(0), QUEUE_BYTES_MAX)).toBe(0);
    expect(queue.push(message(1), 1)).toBe(1);
    expect(queue.takeFrame()).toEqual([message(1)]);
  });

  it('counts no message smaller than it is on the wire', () => {
    const ids = Array.from({ length: 50 }, (_, at) => Number.MAX_SAFE_INTEGER - at);
    const common = { from: 'a'.repeat(16), to: 'b'.repeat(16), term: Number.MAX_SAFE_INTEGER };
    const append = appendMessage(common.from, common.to, 2 ** 52, 100, 1_000);
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
      expect(messageBytes(each)).toBeGreaterThanOrEqual(frame.length);
    }
  });
});
