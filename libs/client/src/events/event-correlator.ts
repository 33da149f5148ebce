/**
 * Decides whether an event is created, counted on an earlier event, or dropped. Pure: the caller
 * passes the time. The rules:
 * 1. Ten or more different messages about one object, for one reason, within ten minutes are
 *    combined into one event (`(combined from similar events): ...`).
 * 2. A repetition of an earlier event increments its count.
 * 3. A source may write a burst of 25 events about one object, then one every five minutes.
 */
import { LRUCache } from 'lru-cache';
import { limits } from '../limits.js';
import { TokenBucket } from '../rest/token-bucket.js';

export interface EventFacts {
  /** Source, object, type and reason, as one text: everything except `fieldPath` and message. */
  readonly subject: string;
  /** The part of the object, such as a container. */
  readonly fieldPath?: string;
  readonly message: string;
}

/** The message to write, and the key under which its repetitions are counted. */
export interface Combined {
  readonly key: string;
  readonly message: string;
}

/** Identifies an event that was written. */
export interface WrittenEvent {
  readonly name: string;
  readonly firstTimestamp: string;
}

interface Similar {
  readonly messages: Set<string>;
  lastMs: number;
}

export interface Counted {
  /** All occurrences. */
  count: number;
  /** The earlier event to update; if undefined, a new event is created. */
  written: WrittenEvent | undefined;
}

const similarCountMax = 10;
const similarWindowMs = 600_000;
const spamBurst = 25;
const spamQps = 1 / 300;
const cacheOptions = { max: limits.eventMemoryMax };

export class EventCorrelator {
  private readonly similar = new LRUCache<string, Similar>(cacheOptions);
  private readonly counted = new LRUCache<string, Counted>(cacheOptions);
  private readonly spam = new LRUCache<string, TokenBucket>(cacheOptions);

  /** Applies rule 1. */
  combine(event: EventFacts, nowMs: number): Combined {
    const { subject, fieldPath = '', message } = event;
    if (!this.isOneOfMany(event, nowMs)) {
      return { key: `${subject}\n${fieldPath}\n${message}`, message };
    }
    return { key: subject, message: `(combined from similar events): ${message}` };
  }

  /** Applies rule 3 to the next event of a source about an object. */
  admit(sourceAndObject: string, nowMs: number): boolean {
    const bucket = this.spam.get(sourceAndObject) ?? new TokenBucket(spamQps, spamBurst, nowMs);
    this.spam.set(sourceAndObject, bucket);
    return bucket.tryTake(nowMs);
  }

  /** Applies rule 2: counts further occurrences under `key`, written or not. */
  count(key: string, occurrences: number): Readonly<Counted> {
    const { count, written } = this.counted.get(key) ?? { count: 0, written: undefined };
    const counted = { count: count + occurrences, written };
    this.counted.set(key, counted);
    return counted;
  }

  /** Records that the event under `key` is written. */
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
