/**
 * Records Events about objects: aggregated, de-duplicated, limited, written in the background by one
 * writer in order. What is recorded is for people: when the queue is full or the server keeps refusing,
 * events are dropped (and logged), never waited for.
 */
import { formatTime } from '@orch/apimachinery';
import { type Clock, type Logger, sleep, systemClock } from '@orch/component';
import type { Event } from '@orch/types/core/v1';
import { limits } from '../limits.js';
import type { ApiObject } from '../objects.js';
import { ApiError, isAlreadyExists, isNotFound } from '../rest/api-error.js';
import { resources } from '../rest/resources.js';
import type { RestClient } from '../rest/rest-client.js';
import { type Correlated, EventCorrelator } from './event-correlator.js';

export type EventType = 'Normal' | 'Warning';

/** The object an event is about; `fieldPath` as in `spec.containers{web}`. */
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
  client: RestClient;
  /** `source.component` of the events, such as `deployment-controller`. */
  component: string;
  /** `source.host`: of node agents, the node. */
  host?: string;
  logger: Logger;
  clock?: Clock;
  random?: () => number;
}

interface Recorded {
  readonly regarding: ObjectReference;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly atMs: number;
}

const writeTimeoutMs = 10_000;
const retryDelayMs = 10_000;

export class EventRecorder {
  private readonly clock: Clock;
  private readonly random: () => number;
  private readonly correlator = new EventCorrelator();
  private readonly queue: Recorded[] = [];
  private readonly stopping = new AbortController();
  private writing: Promise<void> | undefined;
  private accepting = true;
  private nameCount = 0;

  constructor(private readonly options: EventRecorderOptions) {
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
  }

  /** Never throws and never waits. An object needs apiVersion and kind, or be given as a reference. */
  event(
    regarding: ObjectReference | ApiObject,
    type: EventType,
    reason: string,
    message: string,
  ): void {
    if (!this.accepting) return;
    const recorded: Recorded = {
      regarding: referenceTo(regarding),
      type,
      reason,
      message: message.slice(0, limits.eventMessageCharsMax),
      atMs: this.clock.nowMs(),
    };
    this.options.logger.debug({ regarding: recorded.regarding, reason, message }, 'event');
    if (this.queue.length >= limits.eventQueueMax) {
      this.options.logger.warn({ reason, message }, 'event queue is full, event dropped');
      return;
    }
    this.queue.push(recorded);
    this.writing ??= this.writeAll().finally(() => {
      this.writing = undefined;
    });
  }

  /** Writes what is queued, for at most `timeoutMs`, then stops. */
  async stop(timeoutMs = 2_000): Promise<void> {
    this.accepting = false;
    const timer = this.clock.setTimer(timeoutMs, () => {
      this.stopping.abort(new Error('the event recorder is stopped'));
    });
    await this.writing;
    timer.cancel();
  }

  private async writeAll(): Promise<void> {
    for (let one = this.queue.shift(); one; one = this.queue.shift()) {
      if (this.stopping.signal.aborted) return;
      await this.writeWithRetries(one);
    }
  }

  private async writeWithRetries(recorded: Recorded): Promise<void> {
    const { regarding, type, reason } = recorded;
    const { component, host = '', logger } = this.options;
    const { apiVersion, kind, namespace, name, uid, fieldPath } = regarding;
    const about = [component, host, apiVersion, kind, namespace, name, uid, fieldPath].join('\n');
    const correlated = this.correlator.correlate(
      { subject: [about, type, reason].join('\n'), spamKey: about, message: recorded.message },
      this.clock.monotonicMs(),
    );
    if (!correlated) return;
    // One name for all attempts: what was written without an answer is not written twice.
    const newName = this.eventName(recorded);
    for (let attempt = 1; ; attempt++) {
      try {
        await this.write(recorded, correlated, newName);
        return;
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (isRefusal(error) || attempt >= limits.eventAttemptCountMax) {
          // Refused for good, such as in a namespace that is being deleted.
          logger.debug({ err: error, regarding, reason }, 'event was not written');
          return;
        }
        try {
          await sleep(retryDelayMs * (0.5 + this.random()), this.stopping.signal, this.clock);
        } catch {
          // Aborted by stop(): the loop's next attempt is not made.
          return;
        }
      }
    }
  }

  private async write(recorded: Recorded, correlated: Correlated, newName: string): Promise<void> {
    const { key, message, count, written: earlier } = correlated;
    const namespace = recorded.regarding.namespace || 'default';
    const events = this.options.client.resource(resources.events, namespace);
    const call = { timeoutMs: writeTimeoutMs, signal: this.stopping.signal };
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
    const firstTimestamp = earlier?.firstTimestamp ?? at;
    const fields = { namespace, name: newName, message, count, firstTimestamp, at };
    try {
      await events.create(this.eventOf(recorded, fields), call);
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

  /** The object's name and a number that no other event about it has had. */
  private eventName(recorded: Recorded): string {
    this.nameCount = (this.nameCount + 1) % 1_000_000;
    const nanoseconds = BigInt(Math.trunc(recorded.atMs)) * 1_000_000n + BigInt(this.nameCount);
    return `${recorded.regarding.name ?? 'unknown'}.${nanoseconds.toString(16)}`;
  }
}

/** Refused for good; a server that is busy or without its quorum takes the event later. */
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
