/** Every kind that the API serves. */
import { controllerRevision } from './apps/controller-revision.js';
import { daemonSet } from './apps/daemon-set.js';
import { deployment } from './apps/deployment.js';
import { replicaSet } from './apps/replica-set.js';
import { statefulSet } from './apps/stateful-set.js';
import { horizontalPodAutoscaler } from './autoscaling/horizontal-pod-autoscaler.js';
import { cronJob } from './batch/cron-job.js';
import { job } from './batch/job.js';
import { lease } from './coordination/lease.js';
import { configMap } from './core/config-map.js';
import { endpoints } from './core/endpoints.js';
import { event } from './core/event.js';
import { namespace } from './core/namespace.js';
import { node } from './core/node.js';
import { pod } from './core/pod.js';
import { podTemplate } from './core/pod-template-kind.js';
import { replicationController } from './core/replication-controller.js';
import { secret } from './core/secret.js';
import { service } from './core/service.js';
import { serviceAccount } from './core/service-account.js';
import type { ResourceDefinition } from './definition.js';
import { podDisruptionBudget } from './policy/pod-disruption-budget.js';
import { podSecurityPolicy } from './policy/pod-security-policy.js';
import { priorityClass } from './scheduling/priority-class.js';

export const definitions: readonly ResourceDefinition[] = [
  namespace,
  node,
  pod,
  podTemplate,
  replicationController,
  service,
  endpoints,
  configMap,
  secret,
  serviceAccount,
  event,
  lease,
  deployment,
  replicaSet,
  statefulSet,
  daemonSet,
  controllerRevision,
  horizontalPodAutoscaler,
  job,
  cronJob,
  podDisruptionBudget,
  podSecurityPolicy,
  priorityClass,
];
