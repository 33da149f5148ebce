/**
 * A rollback that an annotation requests: the deployment with the template of an earlier revision.
 * Pure.
 */
import type { Deployment, ReplicaSet } from '@orch/types/apps/v1';
import { annotationsForRollback, revisionOf, rollbackKey } from './annotations.js';
import { allOf, maxRevision, type Rollout, sameTemplate, withoutHash } from './rollout.js';

export interface Rollback {
  /** The deployment to write, without the request, even if the revision does not exist. */
  readonly deployment: Deployment;
  readonly event: {
    readonly type: 'Normal' | 'Warning';
    readonly reason: string;
    readonly message: string;
  };
}

/** Undefined if the deployment requests none. */
export function rollbackOf(rollout: Rollout): Rollback | undefined {
  const { deployment } = rollout;
  const asked = deployment.metadata?.annotations?.[rollbackKey];
  if (asked === undefined || !/^\d+$/.test(asked)) return undefined;
  const revision = Number(asked) || lastRevision(allOf(rollout));
  const target = allOf(rollout).find((one) => revisionOf(one) === revision);
  if (revision === 0 || !target) {
    const message =
      revision === 0
        ? 'Unable to find last revision.'
        : 'Unable to find the revision to rollback to.';
    return {
      deployment: withoutRequest(deployment),
      event: { type: 'Warning', reason: 'DeploymentRollbackRevisionNotFound', message },
    };
  }
  if (sameTemplate(deployment.spec?.template, target.spec?.template)) {
    const message = `The rollback revision contains the same template as current deployment "${deployment.metadata?.name}"`;
    return {
      deployment: withoutRequest(deployment),
      event: { type: 'Warning', reason: 'DeploymentRollbackTemplateUnchanged', message },
    };
  }
  return {
    deployment: {
      ...deployment,
      metadata: {
        ...deployment.metadata,
        annotations: { ...annotationsForRollback(deployment, target) },
      },
      spec: {
        ...deployment.spec,
        template: withoutHash(target.spec?.template),
      } as Deployment['spec'],
    },
    event: {
      type: 'Normal',
      reason: 'DeploymentRollback',
      message: `Rolled back deployment "${deployment.metadata?.name}" to revision ${revision}`,
    },
  };
}

/** The revision before the newest; 0 when there is none. */
function lastRevision(replicaSets: readonly ReplicaSet[]): number {
  const newest = maxRevision(replicaSets);
  return maxRevision(replicaSets.filter((one) => revisionOf(one) < newest));
}

function withoutRequest(deployment: Deployment): Deployment {
  const { [rollbackKey]: _request, ...annotations } = deployment.metadata?.annotations ?? {};
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}
