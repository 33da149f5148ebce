/**
 * Writes pod statuses to the API: only the newest status of each pod, one write at a time, with
 * retries. A write contains the uid of the pod, so that a new pod of the same name never gets the
 * status of its predecessor.
 */
import { type ApiClient, isConflict, isNotFound, resources } from '@orch/client';
import { Backoff, type Clock, type Logger, sleep } from '@orch/component';
import type { Pod, PodStatus } from '@orch/types/core/v1';
import { podRetryInitialMs, podRetryMaxMs } from '../limits.js';
import { statusPatch } from './status-patch.js';

interface Pending {
  pod: Pod;
  status: PodStatus;
}

export interface StatusManagerDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class StatusManager {
  private readonly pending = new Map<string, Pending>();
  private readonly writing = new Map<string, Promise<void>>();
  /** Pods as returned by the last write, which may be newer than the watch. */
  private readonly written = new Map<string, Pod>();
  private readonly stopping = new AbortController();

  constructor(private readonly dependencies: StatusManagerDependencies) {}

  /** Queues `status` for writing. `pod` is the newest version that the caller has. */
  set(pod: Pod, status: PodStatus): void {
    const uid = pod.metadata?.uid ?? '';
    this.pending.set(uid, { pod, status });
    if (this.writing.has(uid) || this.stopping.signal.aborted) return;
    const work = this.writeAll(uid).finally(() => this.writing.delete(uid));
    this.writing.set(uid, work);
  }

  /** Returns `pod` with the last written status if that is newer. */
  newest(pod: Pod): Pod {
    const written = this.written.get(pod.metadata?.uid ?? '');
    return written?.metadata?.resourceVersion && isOlder(pod, written)
      ? { ...pod, status: written.status }
      : pod;
  }

  /** Resolves when no write for the pod is pending. */
  async whenWritten(uid: string): Promise<void> {
    await this.writing.get(uid);
  }

  /** Drops the state of a removed pod. */
  forget(uid: string): void {
    this.pending.delete(uid);
    this.written.delete(uid);
  }

  /** Stops and discards pending writes. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('stopping'));
    await Promise.allSettled(this.writing.values());
  }

  private async writeAll(uid: string): Promise<void> {
    const { clock, logger } = this.dependencies;
    // Without jitter: the writes of one agent do not overload anything together.
    const backoff = new Backoff({
      initialMs: podRetryInitialMs,
      maxMs: podRetryMaxMs,
      factor: 2,
      jitter: 0,
      random: () => 0,
    });
    for (;;) {
      const next = this.pending.get(uid);
      if (!next || this.stopping.signal.aborted) return;
      try {
        await this.write(uid, next);
        if (this.pending.get(uid) === next) this.pending.delete(uid);
        backoff.reset();
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (isNotFound(error) || isConflict(error)) {
          // The pod was deleted, or replaced by one of the same name.
          this.forget(uid);
          return;
        }
        logger.warn({ err: error, pod: next.pod.metadata?.name }, 'status not written, will retry');
        try {
          await sleep(backoff.nextMs(), this.stopping.signal, clock);
        } catch (interruption) {
          if (!this.stopping.signal.aborted) throw interruption;
        }
      }
    }
  }

  private async write(uid: string, { pod, status }: Pending): Promise<void> {
    const { client } = this.dependencies;
    const patch = statusPatch(this.newest(pod), status);
    if (!patch) return;
    const { namespace, name = '' } = pod.metadata ?? {};
    const pods = client.resource(resources.pods, namespace);
    const updated = await pods.patchStatus(name, patch, { type: 'strategic' });
    if (this.pending.has(uid)) this.written.set(uid, updated);
  }
}

/** Whether `pod` is older than `than`; also true if a resource version is not a number. */
export function isOlder(pod: Pod, than: Pod): boolean {
  const version = Number(pod.metadata?.resourceVersion);
  const otherVersion = Number(than.metadata?.resourceVersion);
  return Number.isNaN(version) || Number.isNaN(otherVersion) || version < otherVersion;
}
