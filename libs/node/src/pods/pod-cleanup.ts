/**
 * Removes what a pod leaves on the node: dead container runs while it runs, everything after its
 * end.
 */
import { rmSync } from 'node:fs';
import { deadRunCountMax } from '../limits.js';
import { removeLogs } from '../logs/log-rotation.js';
import type { PodIdentity } from '../runtimes/container-runtime.js';
import { type PodContext, podDirectory, podLogDirectory } from './pod-context.js';
import type { PodView } from './pod-view.js';

/** Removes all but the newest dead runs of each container, with their logs. */
export async function removeDeadRuns(context: PodContext, view: PodView): Promise<void> {
  for (const runs of view.runs.values()) {
    const dead = runs.slice(1).filter(({ state }) => state !== 'running');
    for (const run of dead.slice(deadRunCountMax)) {
      await context.runtime.removeContainer(run.id);
      removeLogs(run.logPath);
    }
  }
}

/** Removes the sandboxes, volumes and logs of an ended pod. */
export async function removePod(context: PodContext, identity: PodIdentity): Promise<void> {
  const { runtime, prober, backoff } = context;
  for (const { id } of await runtime.listContainers(identity.uid)) prober.forget(id);
  prober.counts.forget(identity.uid);
  for (const { id } of await runtime.listSandboxes(identity.uid)) await runtime.removeSandbox(id);
  backoff.forget(`${identity.uid}/`);
  rmSync(podDirectory(context, identity.uid), { recursive: true, force: true });
  rmSync(podLogDirectory(context, identity), { recursive: true, force: true });
}
