/**
 * Deletes jobs with their pods when their time to live after finishing is over. The job is read
 * again before its deletion, because the cache may not have seen a longer lifetime.
 */
import { parseTime } from '@orch/apimachinery';
import { isConflict, isNotFound, resources, splitKey } from '@orch/client';
import type { Job } from '@orch/types/batch/v1';
import { type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { finishedCondition } from '../common/finished-job.js';
import { never } from '../common/watches.js';
import { limits } from '../limits.js';

export const ttlAfterFinishedController: ControllerFactory = (context, options) => {
  const { informers, client, clock, features } = context;
  if (!features.enabled('TTLAfterFinished')) return undefined;
  const jobs = informers.informer(resources.jobs).lister;

  return controller('ttl_jobs_to_delete', context)
    .workers(options.ttlAfterFinishedSyncs)
    .for(resources.jobs, { delete: never })
    .reconcile(async (key) => {
      const remainingMs = remainingLifetimeMs(jobs.get(key), clock.nowMs());
      if (remainingMs === undefined) return done;
      if (remainingMs > 0) {
        return { requeueAfterMs: Math.min(remainingMs, limits.wallClockWaitMsMax) };
      }
      const { namespace, name } = splitKey(key);
      const namespaced = client.resource(resources.jobs, namespace);
      const latest = await ignoring(namespaced.get(name), isNotFound);
      const latestMs = remainingLifetimeMs(latest, clock.nowMs());
      if (!latest || latestMs === undefined) return done;
      if (latestMs > 0) return { requeueAfterMs: Math.min(latestMs, limits.wallClockWaitMsMax) };
      const uid = latest.metadata?.uid;
      const deletion = namespaced.delete(name, {
        propagationPolicy: 'Foreground',
        ...(uid && { preconditions: { uid } }),
      });
      await ignoring(deletion, isNotFound, isConflict);
      return done;
    });
};

/** Undefined if the job is not finished, has no lifetime or is being deleted. Pure. */
export function remainingLifetimeMs(job: Job | undefined, nowMs: number): number | undefined {
  const seconds = job?.spec?.ttlSecondsAfterFinished;
  if (!job || seconds === undefined || job.metadata?.deletionTimestamp) return undefined;
  const finishedMs = parseTime(finishedCondition(job.status)?.lastTransitionTime);
  return finishedMs === undefined ? undefined : finishedMs + seconds * 1000 - nowMs;
}
