/**
 * Follows one resource: list once, then watch from there for ever. A watch that ends or breaks is
 * resumed at the last version seen; only when that is no longer kept (410) is everything listed again.
 * The sink therefore sees every change in order, or a full replacement that stands for what was missed,
 * and never an older state, whichever server answers: every request names the version it knows.
 */
import { type Clock, type Logger, sleep } from '@orch/component';
import type { ApiList, ApiObject } from '../objects.js';
import { isGone, isResourceVersionTooLarge } from '../rest/api-error.js';
import type { ResourceClient } from '../rest/resource-client.js';

export interface ReflectorSink<T> {
  /** These are all the objects there are. */
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
/** A watch is renewed after five to ten minutes, spread so that clients do not return together. */
const watchSecondsMin = 300;
/** How much longer than the server the client waits before it takes a watch for dead. */
const watchGraceMs = 30_000;
const backoffBaseMs = 100;
/** Higher: slow to notice that servers are back. Lower: more load on those that are not. */
const backoffMaxMs = 10_000;
/** A watch that held this long was healthy: the next failure starts from a short delay again. */
const healthyWatchMs = 5_000;

export class Reflector<T extends ApiObject> {
  /** The version up to which everything has been handed on. */
  private resourceVersion = '';
  /** Whether a watch may begin there; otherwise a list comes first. */
  private canWatch = false;
  /** No server knows the version: its cluster was made anew. */
  private isUnknown = false;
  private failureCount = 0;

  constructor(private readonly options: ReflectorOptions<T>) {}

  /** Runs until `signal` aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedMs = this.options.clock.monotonicMs();
      try {
        if (this.canWatch) await this.watch(signal);
        else await this.list(signal);
        this.failureCount = 0;
        if (this.options.clock.monotonicMs() - startedMs < backoffBaseMs) {
          // A server that ends watches at once must not be asked in a tight loop.
          await sleep(backoffBaseMs, signal, this.options.clock);
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
   * The first list may be slightly old. A later one replaces what is known and must not be older. Either
   * way any server that has reached the version answers from memory.
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
      abort.abort(new Error('the watch outlived its own deadline')),
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
    const { clock, logger, random } = this.options;
    if (isGone(error)) {
      logger.info({ resourceVersion: this.resourceVersion }, 'watch is too old, listing again');
      this.canWatch = false;
    }
    if (!this.canWatch && isResourceVersionTooLarge(error)) this.isUnknown = true;
    if (clock.monotonicMs() - startedMs > healthyWatchMs) this.failureCount = 0;
    const delayMs =
      Math.min(backoffMaxMs, backoffBaseMs * 2 ** this.failureCount) * (0.5 + random());
    this.failureCount = Math.min(this.failureCount + 1, 16);
    const level = this.failureCount > 3 ? 'warn' : 'debug';
    logger[level]({ err: error, delayMs }, 'list or watch failed, trying again');
    try {
      await sleep(delayMs, signal, clock);
    } catch (reason) {
      if (!signal.aborted) throw reason;
    }
  }
}

/** Items of a list carry no type of their own; give them the one their list names. */
function fillTypes(list: ApiList<ApiObject>): void {
  const kind = list.kind?.replace(/List$/, '');
  if (!kind || !list.apiVersion) return;
  for (const item of list.items) {
    item.kind ??= kind;
    item.apiVersion ??= list.apiVersion;
  }
}
