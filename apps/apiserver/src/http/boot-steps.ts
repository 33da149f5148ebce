/** The steps of the start of the server that have a health check, in the upstream order. */
import { localApiService } from '@orch/api';
import type { AggregatedApis, FollowedNodeGraph, ServerDocuments } from '@orch/apiserver';
import { dialect } from '@orch/component';
import type { Admission, ClaimIndex, CustomResources, ResourceTable } from '@orch/registry';
import type { RbacPolicy } from '@orch/security';
import type { ApiServerContext } from '../context/api-server-context.js';
import type { ServerGate } from '../context/request-gate.js';
import type { BootstrapStep, ClusterBootstrap } from '../store/cluster-bootstrap.js';

export interface BootStep {
  readonly name: string;
  /** Whether the step is a first read of stored objects. */
  readonly isRead: boolean;
  /** Returns the reason why the step is not complete; undefined if it is. */
  readonly missing: () => string | undefined;
}

export interface BootDependencies {
  readonly context: Pick<ApiServerContext, 'options'>;
  readonly table: ResourceTable;
  readonly claims: Pick<ClaimIndex, 'isSynced'>;
  readonly customResources: Pick<CustomResources, 'isSynced'>;
  readonly bootstrap: Pick<ClusterBootstrap, 'isDone'>;
  readonly policy: Pick<RbacPolicy, 'isSynced'>;
  readonly nodes: Pick<FollowedNodeGraph, 'isSynced'>;
  readonly gate: Pick<ServerGate, 'flowControl' | 'isConfigured'>;
  readonly admission: Pick<Admission, 'isSynced'>;
  readonly apis: Pick<AggregatedApis, 'isSynced' | 'find'>;
  readonly documents: Pick<ServerDocuments, 'isReading'>;
}

export function bootSteps(dependencies: BootDependencies): readonly BootStep[] {
  const { claims, customResources, policy, nodes, gate } = dependencies;
  const { admission, apis, documents, bootstrap, context } = dependencies;
  const usesNodes = context.options.authorization.modes.includes('Node');
  const hook = (name: string) => `poststarthook/${name}`;
  const read = (name: string, what: string, isRead: () => boolean): BootStep => ({
    name: hook(name),
    isRead: true,
    missing: () => (isRead() ? undefined : `${what} have not been read yet`),
  });
  const written = (name: string, ...steps: BootstrapStep[]): BootStep => ({
    name: hook(name),
    isRead: false,
    missing() {
      const pending = steps.filter((step) => !bootstrap.isDone(step));
      return pending.length > 0 ? `not written yet: ${pending.join(', ')}` : undefined;
    },
  });
  const flowControl = (step: BootStep) => (gate.flowControl ? [step] : []);
  const isSynced = () => policy.isSynced && claims.isSynced && (!usesNodes || nodes.isSynced);
  const component = (name: string) => dialect().systemName(name);
  return [
    read(
      `start-${component('apiserver-admission-initializer')}`,
      'webhook configurations',
      () => admission.isSynced,
    ),
    read('generic-apiserver-start-informers', 'roles, claims and nodes', isSynced),
    ...flowControl(
      read(
        'priority-and-fairness-config-consumer',
        'flow schemas and priority levels',
        () => gate.isConfigured,
      ),
    ),
    ...flowControl({
      name: hook('priority-and-fairness-filter'),
      isRead: false,
      missing: () => (gate.flowControl?.levels.length ? undefined : 'there are no priority levels'),
    }),
    read(
      'start-apiextensions-informers',
      'definitions of custom resources',
      () => customResources.isSynced,
    ),
    written('start-apiextensions-controllers', 'custom resource definitions'),
    read('crd-informer-synced', 'definitions of custom resources', () => customResources.isSynced),
    written('bootstrap-controller', 'system objects', 'endpoints'),
    written('rbac/bootstrap-roles', 'roles'),
    written('scheduling/bootstrap-system-priority-classes', 'priority classes'),
    ...flowControl(written('priority-and-fairness-config-producer', 'flow control')),
    written('start-cluster-authentication-info-controller', 'system objects'),
    read(`start-${component('aggregator-informers')}`, 'API services', () => apis.isSynced),
    written('apiservice-registration-controller', 'API services'),
    written('apiservice-status-available-controller', 'availability'),
    read('apiservice-wait-for-first-sync', 'API services', () => apis.isSynced),
    written(component('apiserver-autoregistration'), 'local API services'),
    registrationStep(dependencies),
    {
      name: hook('apiservice-openapi-controller'),
      isRead: false,
      missing: () => (documents.isReading ? undefined : 'the documents are not read'),
    },
  ];
}

/** Complete once every built-in version has been registered at the same time. */
function registrationStep({ table, apis }: BootDependencies): BootStep {
  let isComplete = false;
  return {
    name: 'autoregister-completion',
    isRead: false,
    missing() {
      if (isComplete) return undefined;
      const missing = new Set<string>();
      for (const { served, group, version, definition } of table.served) {
        if (definition.custom || apis.find(group, version)) continue;
        const wanted = localApiService(served.group, version);
        if (wanted) missing.add(wanted.metadata?.name ?? '');
      }
      isComplete = missing.size === 0;
      return isComplete ? undefined : `missing API services: ${[...missing].join(', ')}`;
    },
  };
}
