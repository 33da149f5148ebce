/** How a rollout stands, in words, and following it until it is done. */
import { conditionOf } from '@orch/apimachinery';
import { isGone, isWatchInterrupted } from '@orch/client';
import { systemClock } from '@orch/component';
import type { DaemonSet, Deployment, StatefulSet } from '@orch/types/apps/v1';
import { CliError, TimeoutError } from '../errors.js';
import { Pace } from '../pace.js';
import { clientOf, type Named, readWorkload, type Workload, workloadOf } from './workload.js';

export interface RolloutStatus {
  readonly message: string;
  readonly done: boolean;
}

export interface FollowOptions {
  readonly follow: boolean;
  /** 0: without end. */
  readonly timeoutMs: number;
}

/** Prints every new message; ends when the rollout is done. */
export async function followStatus(
  named: Named,
  { follow, timeoutMs }: FollowOptions,
  out: (text: string) => void,
): Promise<void> {
  let said = '';
  const say = (status: RolloutStatus) => {
    if (status.message !== said) out(`${status.message}\n`);
    said = status.message;
    return status.done;
  };
  const stop = new AbortController();
  const timer =
    timeoutMs > 0
      ? systemClock.setTimer(timeoutMs, () => stop.abort(new Error('the wait is over')))
      : undefined;
  const fieldSelector = `metadata.name=${named.name}`;
  const client = clientOf(named);
  const pace = new Pace();
  try {
    for (;;) {
      await pace.turn(stop.signal);
      const workload = await readWorkload(named);
      if (say(statusOf(workload)) || !follow) return;
      const { resourceVersion } = workload.object.metadata ?? {};
      const watch = client.watch({ fieldSelector, resourceVersion, signal: stop.signal });
      try {
        for await (const { type, object } of watch) {
          if (type === 'DELETED') throw new CliError(`${named.name} was deleted`);
          if (type !== 'BOOKMARK' && say(statusOf(workloadOf(named.type, object)))) return;
        }
      } catch (error) {
        if (!isGone(error) && !isWatchInterrupted(error)) throw error;
      }
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    throw new TimeoutError(`timed out waiting for the rollout of ${named.name}: ${said}`);
  } finally {
    timer?.cancel();
    stop.abort();
  }
}

/** Throws `CliError` when the rollout has failed or cannot be followed. */
export function statusOf(workload: Workload): RolloutStatus {
  const { metadata, status } = workload.object;
  const { generation = 0, name = '' } = metadata ?? {};
  if ((status?.observedGeneration ?? 0) < generation) {
    const what = { Deployment: 'deployment', DaemonSet: 'daemon set', StatefulSet: 'statefulset' };
    return {
      message: `Waiting for ${what[workload.kind]} spec update to be observed...`,
      done: false,
    };
  }
  switch (workload.kind) {
    case 'Deployment':
      return deploymentStatus(name, workload.object);
    case 'DaemonSet':
      return daemonSetStatus(name, workload.object);
    case 'StatefulSet':
      return statefulSetStatus(workload.object);
  }
}

function deploymentStatus(name: string, { spec, status }: Deployment): RolloutStatus {
  const progressing = conditionOf(status?.conditions, 'Progressing');
  if (progressing?.reason === 'ProgressDeadlineExceeded') {
    throw new CliError(`deployment "${name}" exceeded its progress deadline`);
  }
  const wanted = spec?.replicas ?? 1;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status ?? {};
  const waiting = (detail: string) => ({
    message: `Waiting for deployment "${name}" rollout to finish: ${detail}...`,
    done: false,
  });
  if (updatedReplicas < wanted) {
    return waiting(`${updatedReplicas} out of ${wanted} new replicas have been updated`);
  }
  if (replicas > updatedReplicas) {
    return waiting(`${replicas - updatedReplicas} old replicas are pending termination`);
  }
  if (availableReplicas < updatedReplicas) {
    return waiting(`${availableReplicas} of ${updatedReplicas} updated replicas are available`);
  }
  return { message: `deployment "${name}" successfully rolled out`, done: true };
}

function daemonSetStatus(name: string, { spec, status }: DaemonSet): RolloutStatus {
  requireRollingUpdate(spec?.updateStrategy?.type, 'daemon set');
  const wanted = status?.desiredNumberScheduled ?? 0;
  const { updatedNumberScheduled = 0, numberAvailable = 0 } = status ?? {};
  const waiting = (detail: string) => ({
    message: `Waiting for daemon set "${name}" rollout to finish: ${detail}...`,
    done: false,
  });
  if (updatedNumberScheduled < wanted) {
    return waiting(`${updatedNumberScheduled} out of ${wanted} new pods have been updated`);
  }
  if (numberAvailable < wanted) {
    return waiting(`${numberAvailable} of ${wanted} updated pods are available`);
  }
  return { message: `daemon set "${name}" successfully rolled out`, done: true };
}

function statefulSetStatus({ spec, status }: StatefulSet): RolloutStatus {
  requireRollingUpdate(spec?.updateStrategy?.type, 'statefulset');
  const wanted = spec?.replicas ?? 1;
  const { readyReplicas = 0, updatedReplicas = 0, currentReplicas = 0 } = status ?? {};
  const partition = spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  if (readyReplicas < wanted) {
    return { message: `Waiting for ${wanted - readyReplicas} pods to be ready...`, done: false };
  }
  if (partition > 0) {
    const toUpdate = wanted - partition;
    if (updatedReplicas < toUpdate) {
      return {
        message: `Waiting for partitioned roll out to finish: ${updatedReplicas} out of ${toUpdate} new pods have been updated...`,
        done: false,
      };
    }
    return {
      message: `partitioned roll out complete: ${updatedReplicas} new pods have been updated...`,
      done: true,
    };
  }
  if (status?.updateRevision !== status?.currentRevision) {
    return {
      message: `waiting for statefulset rolling update to complete ${updatedReplicas} pods at revision ${status?.updateRevision}...`,
      done: false,
    };
  }
  return {
    message: `statefulset rolling update complete ${currentReplicas} pods at revision ${status?.currentRevision}...`,
    done: true,
  };
}

function requireRollingUpdate(strategy: string | undefined, what: string): void {
  if (strategy === undefined || strategy === '' || strategy === 'RollingUpdate') return;
  throw new CliError(`rollout status is only there for a ${what} with strategy RollingUpdate`);
}
