/**
 * Writes pod statuses to the API: per pod only the newest, one write at a time, again until it is
 * through. Writes are bound to the pod's uid, so a namesake never gets the status of its predecessor.
 */
import { isConflict, isNotFound, type RestClient, resources } from '@orch/client';
import { type Clock, type Logger, sleep } from '@orch/component';
import type { Pod, PodStatus } from '@orch/types/core/v1';
import { podRetryInitialMs, podRetryMaxMs } from '../limits.js';
import { statusPatch } from './status-patch.js';

interface Pending {
  pod: Pod;
  status: PodStatus;
}

export interface StatusManagerSettings {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class StatusManager {
  private readonly pending = new Map<string, Pending>();
  private readonly writing = new Map<string, Promise<void>>();
  /** As the API last answered, which may be newer than what the watch has brought. */
  private readonly written = new Map<string, Pod>();
  private readonly stopping = new AbortController();

  constructor(private readonly settings: StatusManagerSettings) {}

  /** `pod` is the newest version the caller knows. */
  set(pod: Pod, status: PodStatus): void {
    const uid = pod.metadata?.uid ?? '';
    this.pending.set(uid, { pod, status });
    if (this.writing.has(uid) || this.stopping.signal.aborted) return;
    const work = this.writeAll(uid).finally(() => this.writing.delete(uid));
    this.writing.set(uid, work);
  }

  /** The pod with the status last written, if the watch has not brought anything newer. */
  newest(pod: Pod): Pod {
    const written = this.written.get(pod.metadata?.uid ?? '');
    return written?.metadata?.resourceVersion && isOlder(pod, written)
      ? { ...pod, status: written.status }
      : pod;
  }

  /** Resolves once nothing is left to write for the pod. */
  async settled(uid: string): Promise<void> {
    await this.writing.get(uid);
  }

  /** The pod is gone. */
  forget(uid: string): void {
    this.pending.delete(uid);
    this.written.delete(uid);
  }

  /** Gives up what is not written. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('stopping'));
    await Promise.allSettled(this.writing.values());
  }

  private async writeAll(uid: string): Promise<void> {
    const { clock, logger } = this.settings;
    let delayMs = podRetryInitialMs;
    for (;;) {
      const next = this.pending.get(uid);
      if (!next || this.stopping.signal.aborted) return;
      try {
        await this.write(uid, next);
        if (this.pending.get(uid) === next) this.pending.delete(uid);
        delayMs = podRetryInitialMs;
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (isNotFound(error) || isConflict(error)) {
          // Gone, or another pod of that name by now.
          this.forget(uid);
          return;
        }
        logger.warn({ err: error, pod: next.pod.metadata?.name }, 'status not written, will retry');
        try {
          await sleep(delayMs, this.stopping.signal, clock);
        } catch (interruption) {
          if (!this.stopping.signal.aborted) throw interruption;
        }
        delayMs = Math.min(delayMs * 2, podRetryMaxMs);
      }
    }
  }

  private async write(uid: string, { pod, status }: Pending): Promise<void> {
    const { client } = this.settings;
    const patch = statusPatch(this.newest(pod), status);
    if (!patch) return;
    const { namespace, name = '' } = pod.metadata ?? {};
    const pods = client.resource(resources.pods, namespace);
    const answer = await pods.patchStatus(name, patch, { type: 'strategic' });
    if (this.pending.has(uid)) this.written.set(uid, answer);
  }
}

/** Versions are numbers here; where they are not, what came last counts. */
function isOlder(pod: Pod, than: Pod): boolean {
  const [own, other] = [pod, than].map((one) => Number(one.metadata?.resourceVersion));
  return Number.isNaN(own) || Number.isNaN(other) || own! < other!;
}
