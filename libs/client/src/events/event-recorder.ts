/**
 * Records Events about objects: aggregated, de-duplicated and rate limited. A few background
 * writers write those about one object in order, and repetitions that wait together as one. They
 * wait while the client is busy with other requests, for a limited time. Events are diagnostics: if
 * the queue is full or the server keeps rejecting them, they are dropped and logged, and the caller
 * never waits.
 */
import { formatTime } from '@orch/apimachinery';
import { type Clock, type Logger, sleep, systemClock } from '@orch/component';
import type { Event } from '@orch/types/core/v1';
import { resources } from '../generated/resources.js';
import { limits } from '../limits.js';
import type { ApiObject } from '../objects.js';
import type { ApiClient } from '../rest/api-client.js';
import { ApiError, isAlreadyExists, isNotFound } from '../rest/api-error.js';
import { type Counted, EventCorrelator } from './event-correlator.js';
import { EventQueue } from './event-queue.js';

export type EventType = 'Normal' | 'Warning';

/** The object that an event is about; `fieldPath` is like `spec.containers{web}`. */
export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

export interface EventRecorderOptions {
  client: ApiClient;
  /** `source.component` of the events, such as `deployment-controller`. */
  component: string;
  /** `source.host`: the node of a node agent. */
  host?: string;
  logger: Logger;
  clock?: Clock;
  random?: () => number;
}

interface Recorded {
  readonly regarding: ObjectReference;
  readonly type: EventType;
  readonly reason: string;
  /** See `Combined`. */
  readonly key: string;
  /** That of the latest occurrence. */
  message: string;
  /** The first occurrence since the last write. */
  readonly firstAtMs: number;
  /** The latest occurrence. */
  atMs: number;
  /** Monotonic. */
  readonly queuedMs: number;
  count: number;
}

/** An event that a writer has taken from the queue; `about` identifies its object. */
interface Taken {
  readonly about: string;
  readonly recorded: Recorded;
}

const writeTimeoutMs = 10_000;
const retryDelayMs = 10_000;
const dropLogIntervalMs = 60_000;

export class EventRecorder {
  private readonly clock: Clock;
  private readonly random: () => number;
  private readonly correlator = new EventCorrelator();
  private readonly queue = new EventQueue<Recorded>();
  private readonly stopping = new AbortController();
  private readonly writers = new Set<Promise<void>>();
  private accepting = true;
  private nameCount = 0;
  /** Since the last message about them. */
  private dropCount = 0;
  private nextDropLogMs = 0;

  constructor(private readonly options: EventRecorderOptions) {
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
  }

  /**
   * Queues an event. Never throws and never waits. An object without apiVersion and kind must be
   * passed as a reference.
   */
  event(
    regarding: ObjectReference | ApiObject,
    type: EventType,
    reason: string,
    message: string,
  ): void {
    if (!this.accepting) return;
    const reference = referenceTo(regarding);
    this.options.logger.debug({ regarding: reference, reason, message }, 'event');
    const about = this.aboutOf(reference);
    const nowMs = this.clock.nowMs();
    const queuedMs = this.clock.monotonicMs();
    const facts = {
      ...{ subject: [about, type, reason].join('\n'), fieldPath: reference.fieldPath },
      message: message.slice(0, limits.eventMessageCharsMax),
    };
    const combined = this.correlator.combine(facts, queuedMs);
    const { key } = combined;
    const waiting = this.queue.find(about, key);
    if (waiting) {
      waiting.count++;
      waiting.atMs = nowMs;
      waiting.message = combined.message;
    } else if (!this.correlator.admit(about, queuedMs)) {
      this.correlator.count(key, 1);
    } else if (this.queue.size >= limits.eventQueueMax) {
      this.noteDrop(reason);
    } else {
      const times = { firstAtMs: nowMs, atMs: nowMs, queuedMs };
      this.queue.add(about, key, {
        ...{ regarding: reference, type, reason, ...combined, ...times, count: 1 },
      });
      this.startWriter();
    }
  }

  /** Logs a first drop, and once a minute how many there were: there can be thousands. */
  private noteDrop(reason: string): void {
    this.dropCount += 1;
    const nowMs = this.clock.monotonicMs();
    if (nowMs < this.nextDropLogMs) return;
    const { dropCount } = this;
    this.options.logger.warn({ reason, dropCount }, 'event queue is full, events dropped');
    this.dropCount = 0;
    this.nextDropLogMs = nowMs + dropLogIntervalMs;
  }

  /** Writes the queued events for at most `timeoutMs`, then stops. */
  async stop(timeoutMs = 2_000): Promise<void> {
    this.accepting = false;
    const timer = this.clock.setTimer(timeoutMs, () => {
      this.stopping.abort(new Error('the event recorder is stopped'));
    });
    await Promise.all(this.writers);
    timer.cancel();
  }

  private startWriter(): void {
    if (this.writers.size >= limits.eventConcurrencyMax) return;
    const first = this.take();
    if (!first) return;
    const writer = this.writeFrom(first).finally(() => {
      this.writers.delete(writer);
      // For an event that was queued after this writer had found none.
      this.startWriter();
    });
    this.writers.add(writer);
  }

  private async writeFrom(first: Taken): Promise<void> {
    for (let next: Taken | undefined = first; next; next = this.take()) {
      await this.writeWithRetries(next.recorded);
      this.queue.release(next.about);
    }
  }

  private take(): Taken | undefined {
    return this.stopping.signal.aborted ? undefined : this.queue.take();
  }

  /**
   * Returns the source and the object of an event as one text, without the part of the object:
   * the containers of a pod share its limits.
   */
  private aboutOf({ apiVersion, kind, namespace, name, uid }: ObjectReference): string {
    const { component, host = '' } = this.options;
    return [component, host, apiVersion, kind, namespace, name, uid].join('\n');
  }

  private async writeWithRetries(recorded: Recorded): Promise<void> {
    const { regarding, reason } = recorded;
    const { logger } = this.options;
    const counted = this.correlator.count(recorded.key, recorded.count);
    // All attempts use one name, so that a lost response does not lead to a second event.
    const newName = this.eventName(recorded);
    for (let attempt = 1; ; attempt++) {
      try {
        await this.write(recorded, counted, newName);
        return;
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (isRefusal(error) || attempt >= limits.eventAttemptCountMax) {
          // Rejected permanently, for example because the namespace is being deleted.
          logger.debug({ err: error, regarding, reason }, 'event was not written');
          return;
        }
        try {
          await sleep(retryDelayMs * (0.5 + this.random()), this.stopping.signal, this.clock);
        } catch {
          // Aborted by stop().
          return;
        }
      }
    }
  }

  private async write(recorded: Recorded, counted: Counted, newName: string): Promise<void> {
    const { key, message } = recorded;
    const { count, written: earlier } = counted;
    const namespace = recorded.regarding.namespace || 'default';
    const events = this.options.client.resource(resources.events, namespace);
    const waitedMs = this.clock.monotonicMs() - recorded.queuedMs;
    const yieldMs = this.accepting ? Math.max(0, limits.eventYieldMsMax - waitedMs) : 0;
    const call = { timeoutMs: writeTimeoutMs, yieldMs, signal: this.stopping.signal };
    const at = formatTime(recorded.atMs);
    if (earlier) {
      try {
        const change = { count, message, lastTimestamp: at };
        await events.patch(earlier.name, change, { ...call, type: 'strategic' });
        return;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
    const firstTimestamp = earlier?.firstTimestamp ?? formatTime(recorded.firstAtMs);
    const fields = { namespace, name: newName, message, count, firstTimestamp, at };
    try {
      await events.createOnly(this.eventOf(recorded, fields), call);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    this.correlator.noteWritten(key, { name: newName, firstTimestamp });
  }

  private eventOf(
    recorded: Recorded,
    fields: {
      namespace: string;
      name: string;
      message: string;
      count: number;
      firstTimestamp: string;
      at: string;
    },
  ): Event {
    const { component, host } = this.options;
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: fields.namespace, name: fields.name },
      involvedObject: recorded.regarding,
      reason: recorded.reason,
      message: fields.message,
      source: { component, ...(host ? { host } : {}) },
      firstTimestamp: fields.firstTimestamp,
      lastTimestamp: fields.at,
      count: fields.count,
      type: recorded.type,
    };
  }

  /** The name of the object and a number that no other event about it has. */
  private eventName(recorded: Recorded): string {
    this.nameCount = (this.nameCount + 1) % 1_000_000;
    const nanoseconds = BigInt(Math.trunc(recorded.atMs)) * 1_000_000n + BigInt(this.nameCount);
    return `${recorded.regarding.name ?? 'unknown'}.${nanoseconds.toString(16)}`;
  }
}

/** Whether the rejection is permanent. A server that is busy or without quorum recovers. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.statusCode < 500 && error.statusCode !== 429;
}

function referenceTo(regarding: ObjectReference | ApiObject): ObjectReference {
  if (!('metadata' in regarding)) return regarding as ObjectReference;
  const { metadata = {} } = regarding;
  return {
    apiVersion: regarding.apiVersion,
    kind: regarding.kind,
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
  };
}
