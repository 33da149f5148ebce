/** All controllers by the names under which they can be switched on and off. */
import { ClusterRoleAggregationController } from '../clusterroleaggregation/cluster-role-aggregation-controller.js';
import { DeploymentController } from '../deployment/deployment-controller.js';
import { EndpointsController } from '../endpoints/endpoints-controller.js';
import { GarbageCollector } from '../garbage/garbage-collector.js';
import { NamespaceController } from '../namespace/namespace-controller.js';
import { NodeLifecycleController } from '../nodelifecycle/node-lifecycle-controller.js';
import { TaintEvictions } from '../nodelifecycle/taint-evictions.js';
import { PodCollector } from '../podgc/pod-collector.js';
import { ReplicaSetController } from '../replicaset/replicaset-controller.js';
import { ResourceQuotaController } from '../resourcequota/resource-quota-controller.js';
import { RootCaPublisher } from '../rootca/root-ca-publisher.js';
import { ServiceAccountController } from '../serviceaccount/service-account-controller.js';
import { claimProtection, volumeProtection } from '../storageprotection/storage-protection.js';
import type { Controller, ControllerContext } from './controller.js';
import type { ControllersOptions } from './options.js';

type MakeController = (
  context: ControllerContext,
  options: ControllersOptions,
) => Controller | undefined;

export const controllerMakers: Readonly<Record<string, MakeController>> = {
  endpoint: (context, options) => new EndpointsController(context, options.endpointSyncs),
  garbagecollector: (context, options) =>
    options.enableGarbageCollector
      ? new GarbageCollector(context, options.garbageCollectorSyncs)
      : undefined,
  namespace: (context, options) =>
    new NamespaceController(context, options.namespaceSyncs, options.namespaceSyncPeriodMs),
  serviceaccount: (context) => new ServiceAccountController(context, 1),
  'root-ca-cert-publisher': (context) =>
    context.authorityPem === undefined
      ? undefined
      : new RootCaPublisher(context, context.authorityPem, 1),
  deployment: (context, options) => new DeploymentController(context, options.deploymentSyncs),
  replicaset: (context, options) => new ReplicaSetController(context, options.replicaSetSyncs),
  'pvc-protection': claimProtection,
  'pv-protection': volumeProtection,
  'clusterrole-aggregation': (context) => new ClusterRoleAggregationController(context, 5),
  podgc: (context, options) => new PodCollector(context, options.terminatedPodThreshold),
  nodelifecycle: (context, options) =>
    new NodeLifecycleController(context, {
      grace: { monitorMs: options.nodeMonitorGraceMs, startupMs: options.nodeStartupGraceMs },
      rates: {
        normalQps: options.nodeEvictionRate,
        secondaryQps: options.secondaryNodeEvictionRate,
        largeZoneSize: options.largeClusterSizeThreshold,
        unhealthyShare: options.unhealthyZoneThreshold,
      },
      monitorPeriodMs: options.nodeMonitorPeriodMs,
    }),
  resourcequota: (context, options) =>
    new ResourceQuotaController(context, {
      workerCount: options.resourceQuotaSyncs,
      syncPeriodMs: options.resourceQuotaSyncPeriodMs,
    }),
  'noexec-taint': (context, options) =>
    options.enableTaintManager ? new TaintEvictions(context) : undefined,
};
