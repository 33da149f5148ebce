/** The status of a rollout as text, and a watch that follows it until the rollout is done. */
import { conditionOf } from '@orch/apimachinery';
import { isGone, isWatchInterrupted } from '@orch/client';
import { systemClock } from '@orch/component';
import type { DaemonSet, Deployment, StatefulSet } from '@orch/types/apps/v1';
import { CliError, TimeoutError } from '../command-line/errors.js';
import { Pace } from '../resources/pace.js';
import {
  clientOf,
  readWorkload,
  type Workload,
  type WorkloadReference,
  workloadOf,
} from './workload.js';

export interface RolloutStatus {
  readonly message: string;
  readonly done: boolean;
}

export interface FollowOptions {
  readonly follow: boolean;
  /** 0 means no timeout. */
  readonly timeoutMs: number;
}

/** Prints every new status message. Resolves when the rollout is done. */
export async function followStatus(
  reference: WorkloadReference,
  { follow, timeoutMs }: FollowOptions,
  out: (text: string) => void,
): Promise<void> {
  let lastMessage = '';
  const report = (status: RolloutStatus) => {
    if (status.message !== lastMessage) out(`${status.message}\n`);
    lastMessage = status.message;
    return status.done;
  };
  const stop = new AbortController();
  const timer =
    timeoutMs > 0
      ? systemClock.setTimer(timeoutMs, () => stop.abort(new Error('the wait timed out')))
      : undefined;
  const fieldSelector = `metadata.name=${reference.name}`;
  const client = clientOf(reference);
  const pace = new Pace();
  try {
    for (;;) {
      await pace.turn(stop.signal);
      const workload = await readWorkload(reference);
      if (report(statusOf(workload)) || !follow) return;
      const { resourceVersion } = workload.object.metadata ?? {};
      const watch = client.watch({ fieldSelector, resourceVersion, signal: stop.signal });
      try {
        for await (const { type, object } of watch) {
          if (type === 'DELETED') throw new CliError(`${reference.name} was deleted`);
          if (type !== 'BOOKMARK' && report(statusOf(workloadOf(reference.type, object)))) return;
        }
      } catch (error) {
        if (!isGone(error) && !isWatchInterrupted(error)) throw error;
      }
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    throw new TimeoutError(
      `timed out waiting for the rollout of ${reference.name}: ${lastMessage}`,
    );
  } finally {
    timer?.cancel();
    stop.abort();
  }
}

/** Throws `CliError` if the rollout has failed or has no status. */
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
  const desired = spec?.replicas ?? 1;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status ?? {};
  const waiting = (detail: string) => ({
    message: `Waiting for deployment "${name}" rollout to finish: ${detail}...`,
    done: false,
  });
  if (updatedReplicas < desired) {
    return waiting(`${updatedReplicas} out of ${desired} new replicas have been updated`);
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
  const desired = status?.desiredNumberScheduled ?? 0;
  const { updatedNumberScheduled = 0, numberAvailable = 0 } = status ?? {};
  const waiting = (detail: string) => ({
    message: `Waiting for daemon set "${name}" rollout to finish: ${detail}...`,
    done: false,
  });
  if (updatedNumberScheduled < desired) {
    return waiting(`${updatedNumberScheduled} out of ${desired} new pods have been updated`);
  }
  if (numberAvailable < desired) {
    return waiting(`${numberAvailable} of ${desired} updated pods are available`);
  }
  return { message: `daemon set "${name}" successfully rolled out`, done: true };
}

function statefulSetStatus({ spec, status }: StatefulSet): RolloutStatus {
  requireRollingUpdate(spec?.updateStrategy?.type, 'statefulset');
  const desired = spec?.replicas ?? 1;
  const { readyReplicas = 0, updatedReplicas = 0, currentReplicas = 0 } = status ?? {};
  const partition = spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  if (readyReplicas < desired) {
    return { message: `Waiting for ${desired - readyReplicas} pods to be ready...`, done: false };
  }
  if (partition > 0) {
    const toUpdate = desired - partition;
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
  throw new CliError(`rollout status requires a ${what} with strategy RollingUpdate`);
}
