/** All controllers, by the names that `--controllers` accepts. */
import { attachDetachController } from '../attachdetach/attach-detach-controller.js';
import { bootstrapSigner } from '../bootstrap/bootstrap-signer-controller.js';
import { tokenCleaner } from '../bootstrap/token-cleaner-controller.js';
import { csrApprovingController } from '../certificates/csr-approving-controller.js';
import { csrCleanerController } from '../certificates/csr-cleaner-controller.js';
import { csrSigningController } from '../certificates/csr-signing-controller.js';
import { cloudNodeLifecycleController } from '../cloudnode/cloud-node-lifecycle-controller.js';
import { clusterRoleAggregationController } from '../clusterroleaggregation/cluster-role-aggregation-controller.js';
import type { ControllerFactory } from '../common/controller.js';
import { cronJobController } from '../cronjob/cron-job-controller.js';
import { daemonSetController } from '../daemonset/daemonset-controller.js';
import { deploymentController } from '../deployment/deployment-controller.js';
import { disruptionController } from '../disruption/disruption-controller.js';
import { endpointSliceController } from '../endpoints/endpoint-slice-controller.js';
import { endpointSliceMirroringController } from '../endpoints/endpoint-slice-mirroring-controller.js';
import { endpointsController } from '../endpoints/endpoints-controller.js';
import { ephemeralVolumeController } from '../ephemeralvolume/ephemeral-volume-controller.js';
import { garbageCollector } from '../garbage/garbage-collector.js';
import { jobController } from '../job/job-controller.js';
import { namespaceController } from '../namespace/namespace-controller.js';
import { nodeIpamController } from '../nodeipam/node-ipam-controller.js';
import { nodeLifecycleController } from '../nodelifecycle/node-lifecycle-controller.js';
import { taintEvictionController } from '../nodelifecycle/taint-eviction-controller.js';
import { podAutoscalerController } from '../podautoscaler/pod-autoscaler-controller.js';
import { podCollector } from '../podgc/pod-collector.js';
import {
  replicaSetController,
  replicationController,
} from '../replicaset/replicaset-controller.js';
import { resourceQuotaController } from '../resourcequota/resource-quota-controller.js';
import { rootCaPublisher } from '../rootca/root-ca-publisher.js';
import { routeController } from '../route/route-controller.js';
import { serviceController } from '../service/service-controller.js';
import { serviceAccountController } from '../serviceaccount/service-account-controller.js';
import { tokenController } from '../serviceaccount/token-controller.js';
import { statefulSetController } from '../statefulset/statefulset-controller.js';
import { claimProtection, volumeProtection } from '../storageprotection/storage-protection.js';
import { storageVersionCollector } from '../storageversion/storage-version-collector.js';
import { ttlController } from '../ttl/ttl-controller.js';
import { ttlAfterFinishedController } from '../ttlafterfinished/ttl-after-finished-controller.js';
import { volumeBinder } from '../volumebinder/volume-binder-controller.js';
import { volumeExpandController } from '../volumeexpand/volume-expand-controller.js';

export const controllers: Readonly<Record<string, ControllerFactory>> = {
  endpoint: endpointsController,
  endpointslice: endpointSliceController,
  endpointslicemirroring: endpointSliceMirroringController,
  garbagecollector: garbageCollector,
  namespace: namespaceController,
  serviceaccount: serviceAccountController,
  'serviceaccount-token': tokenController,
  'root-ca-cert-publisher': rootCaPublisher,
  deployment: deploymentController,
  replicaset: replicaSetController,
  replicationcontroller: replicationController,
  statefulset: statefulSetController,
  daemonset: daemonSetController,
  job: jobController,
  cronjob: cronJobController,
  horizontalpodautoscaling: podAutoscalerController,
  disruption: disruptionController,
  'ttl-after-finished': ttlAfterFinishedController,
  'persistentvolume-binder': volumeBinder,
  'persistentvolume-expander': volumeExpandController,
  attachdetach: attachDetachController,
  'ephemeral-volume': ephemeralVolumeController,
  'pvc-protection': claimProtection,
  'pv-protection': volumeProtection,
  'clusterrole-aggregation': clusterRoleAggregationController,
  podgc: podCollector,
  nodeipam: nodeIpamController,
  nodelifecycle: nodeLifecycleController,
  'cloud-node-lifecycle': cloudNodeLifecycleController,
  service: serviceController,
  route: routeController,
  ttl: ttlController,
  'storage-version-gc': storageVersionCollector,
  resourcequota: resourceQuotaController,
  'noexec-taint': taintEvictionController,
  csrapproving: csrApprovingController,
  csrsigning: csrSigningController,
  csrcleaner: csrCleanerController,
  bootstrapsigner: bootstrapSigner,
  tokencleaner: tokenCleaner,
};
