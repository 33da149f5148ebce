/** Every kind that the API serves. */
import { mutatingWebhookConfiguration } from './admissionregistration/mutating-webhook-configuration.js';
import { validatingWebhookConfiguration } from './admissionregistration/validating-webhook-configuration.js';
import { apiServiceKind } from './apiregistration/api-service.js';
import { storageVersion } from './apiserverinternal/storage-version.js';
import { deployment } from './apps/deployment.js';
import { replicaSet } from './apps/replica-set.js';
import { tokenReview } from './authentication/token-review.js';
import { localSubjectAccessReview } from './authorization/local-subject-access-review.js';
import { selfSubjectAccessReview } from './authorization/self-subject-access-review.js';
import { selfSubjectRulesReview } from './authorization/self-subject-rules-review.js';
import { subjectAccessReview } from './authorization/subject-access-review.js';
import { certificateSigningRequest } from './certificates/certificate-signing-request.js';
import { lease } from './coordination/lease.js';
import { binding } from './core/binding.js';
import { configMap } from './core/config-map.js';
import { endpoints } from './core/endpoints.js';
import { event } from './core/event.js';
import { namespace } from './core/namespace.js';
import { node } from './core/node.js';
import { pod } from './core/pod.js';
import { secret } from './core/secret.js';
import { service } from './core/service.js';
import { serviceAccount } from './core/service-account.js';
import type { ResourceDefinition } from './definition.js';
import { flowSchema } from './flowcontrol/flow-schema.js';
import { priorityLevelConfiguration } from './flowcontrol/priority-level-configuration.js';
import { priorityClass } from './scheduling/priority-class.js';

export const definitions: readonly ResourceDefinition[] = [
  namespace,
  node,
  pod,
  service,
  endpoints,
  configMap,
  secret,
  serviceAccount,
  event,
  lease,
  deployment,
  replicaSet,
  priorityClass,
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
  storageVersion,
  binding,
];
