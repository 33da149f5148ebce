/**
 * The resources that the platform itself serves, each in its preferred version, with the type of its
 * objects. Source: the interface's discovery.
 */
import type {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@orch/types/admissionregistration/v1';
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1';
import type { APIService } from '@orch/types/apiregistration/v1';
import type {
  ControllerRevision,
  DaemonSet,
  Deployment,
  ReplicaSet,
  StatefulSet,
} from '@orch/types/apps/v1';
import type { HorizontalPodAutoscaler } from '@orch/types/autoscaling/v1';
import type { CronJob, Job } from '@orch/types/batch/v1';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import type { Lease } from '@orch/types/coordination/v1';
import type {
  ConfigMap,
  Endpoints,
  Event,
  LimitRange,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodTemplate,
  ReplicationController,
  ResourceQuota,
  Secret,
  Service,
  ServiceAccount,
} from '@orch/types/core/v1';
import type { EndpointSlice } from '@orch/types/discovery/v1';
import type {
  FlowSchema,
  PriorityLevelConfiguration,
} from '@orch/types/flowcontrol.apiserver/v1beta1';
import type { Ingress, IngressClass, NetworkPolicy } from '@orch/types/networking/v1';
import type { RuntimeClass } from '@orch/types/node/v1';
import type { PodDisruptionBudget } from '@orch/types/policy/v1';
import type {
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
} from '@orch/types/rbac.authorization/v1';
import type { PriorityClass } from '@orch/types/scheduling/v1';
import type { CSIDriver, CSINode, StorageClass, VolumeAttachment } from '@orch/types/storage/v1';
import type { ApiObject } from '../objects.js';
import type { KnownResource } from './resource-ref.js';

function known<T extends ApiObject>(
  group: string,
  version: string,
  plural: string,
  kind: string,
  namespaced: boolean,
): KnownResource<T> {
  return Object.freeze({ group, version, plural, kind, namespaced });
}

const namespaced = true;
const clusterScoped = false;

export const resources = {
  configMaps: known<ConfigMap>('core', 'v1', 'configmaps', 'ConfigMap', namespaced),
  endpoints: known<Endpoints>('core', 'v1', 'endpoints', 'Endpoints', namespaced),
  events: known<Event>('core', 'v1', 'events', 'Event', namespaced),
  limitRanges: known<LimitRange>('core', 'v1', 'limitranges', 'LimitRange', namespaced),
  namespaces: known<Namespace>('core', 'v1', 'namespaces', 'Namespace', clusterScoped),
  nodes: known<Node>('core', 'v1', 'nodes', 'Node', clusterScoped),
  persistentVolumeClaims: known<PersistentVolumeClaim>(
    'core',
    'v1',
    'persistentvolumeclaims',
    'PersistentVolumeClaim',
    namespaced,
  ),
  persistentVolumes: known<PersistentVolume>(
    'core',
    'v1',
    'persistentvolumes',
    'PersistentVolume',
    clusterScoped,
  ),
  pods: known<Pod>('core', 'v1', 'pods', 'Pod', namespaced),
  podTemplates: known<PodTemplate>('core', 'v1', 'podtemplates', 'PodTemplate', namespaced),
  replicationControllers: known<ReplicationController>(
    'core',
    'v1',
    'replicationcontrollers',
    'ReplicationController',
    namespaced,
  ),
  resourceQuotas: known<ResourceQuota>('core', 'v1', 'resourcequotas', 'ResourceQuota', namespaced),
  secrets: known<Secret>('core', 'v1', 'secrets', 'Secret', namespaced),
  serviceAccounts: known<ServiceAccount>(
    'core',
    'v1',
    'serviceaccounts',
    'ServiceAccount',
    namespaced,
  ),
  services: known<Service>('core', 'v1', 'services', 'Service', namespaced),
  apiServices: known<APIService>(
    'apiregistration',
    'v1',
    'apiservices',
    'APIService',
    clusterScoped,
  ),
  controllerRevisions: known<ControllerRevision>(
    'apps',
    'v1',
    'controllerrevisions',
    'ControllerRevision',
    namespaced,
  ),
  daemonSets: known<DaemonSet>('apps', 'v1', 'daemonsets', 'DaemonSet', namespaced),
  deployments: known<Deployment>('apps', 'v1', 'deployments', 'Deployment', namespaced),
  replicaSets: known<ReplicaSet>('apps', 'v1', 'replicasets', 'ReplicaSet', namespaced),
  statefulSets: known<StatefulSet>('apps', 'v1', 'statefulsets', 'StatefulSet', namespaced),
  horizontalPodAutoscalers: known<HorizontalPodAutoscaler>(
    'autoscaling',
    'v1',
    'horizontalpodautoscalers',
    'HorizontalPodAutoscaler',
    namespaced,
  ),
  cronJobs: known<CronJob>('batch', 'v1', 'cronjobs', 'CronJob', namespaced),
  jobs: known<Job>('batch', 'v1', 'jobs', 'Job', namespaced),
  certificateSigningRequests: known<CertificateSigningRequest>(
    'certificates',
    'v1',
    'certificatesigningrequests',
    'CertificateSigningRequest',
    clusterScoped,
  ),
  ingressClasses: known<IngressClass>(
    'networking',
    'v1',
    'ingressclasses',
    'IngressClass',
    clusterScoped,
  ),
  ingresses: known<Ingress>('networking', 'v1', 'ingresses', 'Ingress', namespaced),
  networkPolicies: known<NetworkPolicy>(
    'networking',
    'v1',
    'networkpolicies',
    'NetworkPolicy',
    namespaced,
  ),
  podDisruptionBudgets: known<PodDisruptionBudget>(
    'policy',
    'v1',
    'poddisruptionbudgets',
    'PodDisruptionBudget',
    namespaced,
  ),
  clusterRoleBindings: known<ClusterRoleBinding>(
    'rbac.authorization',
    'v1',
    'clusterrolebindings',
    'ClusterRoleBinding',
    clusterScoped,
  ),
  clusterRoles: known<ClusterRole>(
    'rbac.authorization',
    'v1',
    'clusterroles',
    'ClusterRole',
    clusterScoped,
  ),
  roleBindings: known<RoleBinding>(
    'rbac.authorization',
    'v1',
    'rolebindings',
    'RoleBinding',
    namespaced,
  ),
  roles: known<Role>('rbac.authorization', 'v1', 'roles', 'Role', namespaced),
  csiDrivers: known<CSIDriver>('storage', 'v1', 'csidrivers', 'CSIDriver', clusterScoped),
  csiNodes: known<CSINode>('storage', 'v1', 'csinodes', 'CSINode', clusterScoped),
  storageClasses: known<StorageClass>(
    'storage',
    'v1',
    'storageclasses',
    'StorageClass',
    clusterScoped,
  ),
  volumeAttachments: known<VolumeAttachment>(
    'storage',
    'v1',
    'volumeattachments',
    'VolumeAttachment',
    clusterScoped,
  ),
  mutatingWebhookConfigurations: known<MutatingWebhookConfiguration>(
    'admissionregistration',
    'v1',
    'mutatingwebhookconfigurations',
    'MutatingWebhookConfiguration',
    clusterScoped,
  ),
  validatingWebhookConfigurations: known<ValidatingWebhookConfiguration>(
    'admissionregistration',
    'v1',
    'validatingwebhookconfigurations',
    'ValidatingWebhookConfiguration',
    clusterScoped,
  ),
  customResourceDefinitions: known<CustomResourceDefinition>(
    'apiextensions',
    'v1',
    'customresourcedefinitions',
    'CustomResourceDefinition',
    clusterScoped,
  ),
  priorityClasses: known<PriorityClass>(
    'scheduling',
    'v1',
    'priorityclasses',
    'PriorityClass',
    clusterScoped,
  ),
  leases: known<Lease>('coordination', 'v1', 'leases', 'Lease', namespaced),
  runtimeClasses: known<RuntimeClass>(
    'node',
    'v1',
    'runtimeclasses',
    'RuntimeClass',
    clusterScoped,
  ),
  endpointSlices: known<EndpointSlice>(
    'discovery',
    'v1',
    'endpointslices',
    'EndpointSlice',
    namespaced,
  ),
  flowSchemas: known<FlowSchema>(
    'flowcontrol.apiserver',
    'v1beta1',
    'flowschemas',
    'FlowSchema',
    clusterScoped,
  ),
  priorityLevelConfigurations: known<PriorityLevelConfiguration>(
    'flowcontrol.apiserver',
    'v1beta1',
    'prioritylevelconfigurations',
    'PriorityLevelConfiguration',
    clusterScoped,
  ),
} as const;
