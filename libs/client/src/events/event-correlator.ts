/**
 * Decides what becomes of an event: a new one, one more count on an earlier one, or nothing. Pure; the
 * time comes in. In this order:
 * 1. ten or more different messages on one object for one reason within ten minutes become one event
 *    (`(combined from similar events): ...`);
 * 2. an event equal to an earlier one adds to its count;
 * 3. a source may write 25 events about one object at once, then one in five minutes.
 */
import { limits } from '../limits.js';
import { TokenBucket } from '../rest/token-bucket.js';
import { BoundedMap } from './bounded-map.js';

export interface EventFacts {
  /** Source, object, type, reason: everything but the message, as one text. */
  readonly subject: string;
  /** Source and object alone. */
  readonly spamKey: string;
  readonly message: string;
}

/** What to write under which key; undefined from `correlate` is nothing. */
export interface Correlated {
  readonly key: string;
  readonly message: string;
  readonly count: number;
  /** The earlier event to count on; without one, a new one is to be written. */
  readonly written: WrittenEvent | undefined;
}

/** Where an earlier event was written. */
export interface WrittenEvent {
  readonly name: string;
  readonly firstTimestamp: string;
}

interface Similar {
  readonly messages: Set<string>;
  lastMs: number;
}

interface Counted {
  count: number;
  written: WrittenEvent | undefined;
}

const similarCountMax = 10;
const similarWindowMs = 600_000;
const spamBurst = 25;
const spamQps = 1 / 300;

export class EventCorrelator {
  private readonly similar = new BoundedMap<Similar>(limits.eventMemoryMax);
  private readonly counted = new BoundedMap<Counted>(limits.eventMemoryMax);
  private readonly spam = new BoundedMap<TokenBucket>(limits.eventMemoryMax);

  correlate(event: EventFacts, nowMs: number): Correlated | undefined {
    const isSimilar = this.isOneOfMany(event, nowMs);
    const key = isSimilar ? event.subject : `${event.subject}\n${event.message}`;
    const message = isSimilar ? `(combined from similar events): ${event.message}` : event.message;
    const counted = this.counted.get(key) ?? { count: 0, written: undefined };
    counted.count++;
    this.counted.set(key, counted);
    const bucket = this.spam.get(event.spamKey) ?? new TokenBucket(spamQps, spamBurst, nowMs);
    this.spam.set(event.spamKey, bucket);
    if (!bucket.tryTake(nowMs)) return undefined;
    return { key, message, ...counted };
  }

  /** Notes that the event under `key` is written. */
  noteWritten(key: string, written: WrittenEvent): void {
    const counted = this.counted.get(key);
    if (counted) counted.written = written;
  }

  private isOneOfMany(event: EventFacts, nowMs: number): boolean {
    let similar = this.similar.get(event.subject);
    if (!similar || nowMs - similar.lastMs > similarWindowMs) {
      similar = { messages: new Set(), lastMs: nowMs };
    }
    similar.lastMs = nowMs;
    if (similar.messages.size < similarCountMax) similar.messages.add(event.message);
    this.similar.set(event.subject, similar);
    return similar.messages.size >= similarCountMax;
  }
}
