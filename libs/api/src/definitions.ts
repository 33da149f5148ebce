/** Every kind that the API serves. */

import { mutatingWebhookConfiguration } from './admissionregistration/mutating-webhook-configuration.js';
import { validatingWebhookConfiguration } from './admissionregistration/validating-webhook-configuration.js';
import { customResourceDefinition } from './apiextensions/custom-resource-definition.js';
import { apiServiceKind } from './apiregistration/api-service.js';
import { storageVersion } from './apiserverinternal/storage-version.js';
import { controllerRevision } from './apps/controller-revision.js';
import { daemonSet } from './apps/daemon-set.js';
import { deployment } from './apps/deployment.js';
import { replicaSet } from './apps/replica-set.js';
import { statefulSet } from './apps/stateful-set.js';
import { tokenReview } from './authentication/token-review.js';
import { localSubjectAccessReview } from './authorization/local-subject-access-review.js';
import { selfSubjectAccessReview } from './authorization/self-subject-access-review.js';
import { selfSubjectRulesReview } from './authorization/self-subject-rules-review.js';
import { subjectAccessReview } from './authorization/subject-access-review.js';
import { horizontalPodAutoscaler } from './autoscaling/horizontal-pod-autoscaler.js';
import { cronJob } from './batch/cron-job.js';
import { job } from './batch/job.js';
import { certificateSigningRequest } from './certificates/certificate-signing-request.js';
import { lease } from './coordination/lease.js';
import { binding } from './core/binding.js';
import { componentStatusKind } from './core/component-status.js';
import { configMap } from './core/config-map.js';
import { event } from './core/event/event.js';
import { namespace } from './core/namespace.js';
import { node } from './core/node/node.js';
import { pod } from './core/pod/pod.js';
import { limitRange } from './core/resources/limit-range.js';
import { resourceQuota } from './core/resources/resource-quota.js';
import { secret } from './core/secret.js';
import { endpoints } from './core/service/endpoints.js';
import { service } from './core/service/service.js';
import { serviceAccount } from './core/service-account.js';
import { podTemplate } from './core/template/pod-template-kind.js';
import { replicationController } from './core/template/replication-controller.js';
import { persistentVolume } from './core/volume/persistent-volume.js';
import { persistentVolumeClaim } from './core/volume/persistent-volume-claim.js';
import type { ResourceDefinition } from './definition.js';
import { endpointSlice } from './discovery/endpoint-slice.js';
import { flowSchema } from './flowcontrol/flow-schema.js';
import { priorityLevelConfiguration } from './flowcontrol/priority-level-configuration.js';
import { ingress } from './networking/ingress.js';
import { ingressClass } from './networking/ingress-class.js';
import { networkPolicy } from './networking/network-policy.js';
import { runtimeClass } from './node/runtime-class.js';
import { podDisruptionBudget } from './policy/pod-disruption-budget.js';
import { podSecurityPolicy } from './policy/pod-security-policy.js';
import { clusterRole } from './rbac/cluster-role.js';
import { clusterRoleBinding } from './rbac/cluster-role-binding.js';
import { role } from './rbac/role.js';
import { roleBinding } from './rbac/role-binding.js';
import { priorityClass } from './scheduling/priority-class.js';
import { csiDriver } from './storage/csi-driver.js';
import { csiNode } from './storage/csi-node.js';
import { csiStorageCapacity } from './storage/csi-storage-capacity.js';
import { storageClass } from './storage/storage-class.js';
import { volumeAttachment } from './storage/volume-attachment.js';

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
  persistentVolume,
  persistentVolumeClaim,
  limitRange,
  resourceQuota,
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
  role,
  roleBinding,
  clusterRole,
  clusterRoleBinding,
  networkPolicy,
  ingress,
  ingressClass,
  endpointSlice,
  storageClass,
  csiDriver,
  csiNode,
  volumeAttachment,
  csiStorageCapacity,
  runtimeClass,
  tokenReview,
  subjectAccessReview,
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  certificateSigningRequest,
  mutatingWebhookConfiguration,
  validatingWebhookConfiguration,
  flowSchema,
  priorityLevelConfiguration,
  apiServiceKind,
  customResourceDefinition,
  storageVersion,
  binding,
  componentStatusKind,
];
