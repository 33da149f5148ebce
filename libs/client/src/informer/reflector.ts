/**
 * Lists one resource and then watches it. A watch that ends or breaks resumes at the last version
 * seen; if the server has compacted that version (410), everything is listed again. The sink sees
 * every change in order, or a full replacement after missed changes, and never an older state,
 * because every request names the version that it continues from.
 */
import { Backoff, type Clock, type Logger, sleep } from '@orch/component';
import type { ApiList, ApiObject } from '../objects.js';
import { isGone, isResourceVersionTooLarge } from '../rest/api-error.js';
import type { ResourceClient } from '../rest/resource-client.js';

export interface ReflectorSink<T> {
  /** Replaces all objects. */
  replace(objects: T[]): void;
  set(object: T): void;
  delete(object: T): void;
}

export interface ReflectorOptions<T extends ApiObject> {
  source: Pick<ResourceClient<T>, 'listAll' | 'watch'>;
  selection: { labelSelector?: string; fieldSelector?: string };
  sink: ReflectorSink<T>;
  logger: Logger;
  clock: Clock;
  random: () => number;
}

const pageObjectCount = 2_000;
const listTimeoutMs = 300_000;
/** Watches last five to ten minutes, spread so that clients do not reconnect together. */
const watchSecondsMin = 300;
/** How much longer than the server the client waits before it aborts a watch. */
const watchGraceMs = 30_000;
const backoffInitialMs = 100;
/** Higher: a recovery is noticed later. Lower: more load on failed servers. */
const backoffMaxMs = 10_000;
/** A watch that lasted this long was healthy: the next failure starts with a short delay again. */
const healthyWatchMs = 5_000;

export class Reflector<T extends ApiObject> {
  /** The version up to which the sink has seen all changes. */
  private resourceVersion = '';
  /** Whether a watch can start at that version; otherwise a list is needed. */
  private canWatch = false;
  /** The version is in the future of all servers: the cluster was recreated. */
  private isUnknown = false;
  private readonly backoff: Backoff;

  constructor(private readonly options: ReflectorOptions<T>) {
    this.backoff = new Backoff({
      initialMs: backoffInitialMs,
      maxMs: backoffMaxMs,
      factor: 2,
      jitter: 0.5,
      random: options.random,
    });
  }

  /** Runs until `signal` aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedMs = this.options.clock.monotonicMs();
      try {
        if (this.canWatch) await this.watch(signal);
        else await this.list(signal);
        this.backoff.reset();
        if (this.options.clock.monotonicMs() - startedMs < backoffInitialMs) {
          // A server that ends watches immediately must not cause a tight loop.
          await sleep(backoffInitialMs, signal, this.options.clock);
        }
      } catch (error) {
        if (signal.aborted) return;
        await this.afterFailure(error, startedMs, signal);
      }
    }
  }

  private async list(signal: AbortSignal): Promise<void> {
    const { source, selection, sink } = this.options;
    const list = await source.listAll({
      ...selection,
      limit: pageObjectCount,
      ...this.listVersion(),
      timeoutMs: listTimeoutMs,
      signal,
    });
    fillTypes(list);
    sink.replace(list.items);
    this.resourceVersion = list.metadata.resourceVersion ?? '';
    this.canWatch = true;
    this.isUnknown = false;
  }

  /**
   * The first list may be slightly stale. A later one replaces known objects and must not be older.
   * In both cases any server that has reached the version responds from memory.
   */
  private listVersion() {
    if (this.isUnknown) return {};
    if (this.resourceVersion === '') return { resourceVersion: '0' };
    const { resourceVersion } = this;
    return { resourceVersion, resourceVersionMatch: 'NotOlderThan' as const };
  }

  private async watch(signal: AbortSignal): Promise<void> {
    const { source, selection, sink, clock, random } = this.options;
    const timeoutSeconds = Math.round(watchSecondsMin * (1 + random()));
    const abort = new AbortController();
    const onAbort = () => abort.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const deadline = clock.setTimer(timeoutSeconds * 1000 + watchGraceMs, () =>
      abort.abort(new Error('the watch exceeded its deadline')),
    );
    try {
      const events = source.watch({
        ...selection,
        resourceVersion: this.resourceVersion,
        allowWatchBookmarks: true,
        timeoutSeconds,
        signal: abort.signal,
      });
      for await (const { type, object } of events) {
        if (type === 'DELETED') sink.delete(object);
        else if (type !== 'BOOKMARK') sink.set(object);
        this.resourceVersion = object.metadata?.resourceVersion ?? this.resourceVersion;
      }
    } finally {
      deadline.cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  private async afterFailure(
    error: unknown,
    startedMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, logger } = this.options;
    if (isGone(error)) {
      logger.info(
        { resourceVersion: this.resourceVersion },
        'watch version is compacted, listing again',
      );
      this.canWatch = false;
    }
    if (!this.canWatch && isResourceVersionTooLarge(error)) this.isUnknown = true;
    if (clock.monotonicMs() - startedMs > healthyWatchMs) this.backoff.reset();
    const delayMs = this.backoff.nextMs();
    const level = this.backoff.failureCount > 3 ? 'warn' : 'debug';
    logger[level]({ err: error, delayMs }, 'list or watch failed, retrying');
    try {
      await sleep(delayMs, signal, clock);
    } catch (reason) {
      if (!signal.aborted) throw reason;
    }
  }
}

/** Sets the type of list items, which only the list states. */
function fillTypes(list: ApiList<ApiObject>): void {
  const kind = list.kind?.replace(/List$/, '');
  if (!kind || !list.apiVersion) return;
  for (const item of list.items) {
    item.kind ??= kind;
    item.apiVersion ??= list.apiVersion;
  }
}
