/**
 * Flow schemas and priority levels of every cluster. Some are mandatory and immutable, because
 * without them a request might match none. Source: the bootstrap objects in the recorded fixtures.
 */
import { dialect } from '@orch/component';
import type {
  FlowSchema,
  FlowSchemaSpec,
  LimitResponse,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  Subject,
} from '@orch/types/flowcontrol.apiserver/v1beta1';

const mandatoryNames: readonly (string | undefined)[] = ['exempt', 'catch-all'];

/** `"true"`: the server maintains the spec; `"false"`: an operator does. */
export const autoUpdateAnnotation = () => dialect().key('autoupdate-spec', 'apf');

function base(kind: string, name: string) {
  return {
    apiVersion: dialect().apiVersion('flowcontrol.apiserver', 'v1beta1'),
    kind,
    metadata: { name, annotations: { [autoUpdateAnnotation()]: 'true' } },
  };
}

function level(name: string, spec: PriorityLevelConfigurationSpec): PriorityLevelConfiguration {
  return { ...base('PriorityLevelConfiguration', name), spec };
}

function limited(
  name: string,
  assuredConcurrencyShares: number,
  limitResponse: LimitResponse,
): PriorityLevelConfiguration {
  return level(name, { type: 'Limited', limited: { assuredConcurrencyShares, limitResponse } });
}

function queue(queues: number, handSize: number): LimitResponse {
  return { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } };
}

export function systemPriorityLevels(): PriorityLevelConfiguration[] {
  return [
    level('exempt', { type: 'Exempt' }),
    limited('catch-all', 5, { type: 'Reject' }),
    limited('system', 30, queue(64, 6)),
    limited('leader-election', 10, queue(16, 4)),
    limited('workload-high', 40, queue(128, 6)),
    limited('workload-low', 100, queue(128, 6)),
    limited('global-default', 20, queue(128, 6)),
  ];
}

const group = (name: string): Subject => ({ kind: 'Group', group: { name } });
const user = (name: string): Subject => ({ kind: 'User', user: { name } });

function everything(...subjects: Subject[]): PolicyRulesWithSubjects {
  const all = ['*'];
  return {
    subjects,
    resourceRules: [
      { verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: all },
    ],
    nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
  };
}

/** The requests of leader election. */
function elections(namespaces: string[], ...subjects: Subject[]): PolicyRulesWithSubjects {
  const verbs = ['get', 'create', 'update'];
  return {
    subjects,
    resourceRules: [
      { verbs, apiGroups: [''], resources: ['endpoints', 'configmaps'], namespaces },
      {
        verbs,
        apiGroups: [dialect().group('coordination')],
        resources: ['leases'],
        namespaces: ['*'],
      },
    ],
  };
}

function schema(
  name: string,
  levelName: string,
  matchingPrecedence: number,
  distinguisher: 'ByUser' | 'ByNamespace' | undefined,
  rule: PolicyRulesWithSubjects,
): FlowSchema {
  const spec: FlowSchemaSpec = {
    priorityLevelConfiguration: { name: levelName },
    matchingPrecedence,
    ...(distinguisher && { distinguisherMethod: { type: distinguisher } }),
    rules: [rule],
  };
  return { ...base('FlowSchema', name), spec };
}

export function systemFlowSchemas(): FlowSchema[] {
  const { systemNamespace } = dialect();
  const controllers = dialect().systemName('controller-manager');
  const scheduler = dialect().systemName('scheduler');
  const everybody = [group('system:unauthenticated'), group('system:authenticated')];
  const systemAccounts: Subject = {
    kind: 'ServiceAccount',
    serviceAccount: { namespace: systemNamespace, name: '*' },
  };
  const components = [user(`system:${controllers}`), user(`system:${scheduler}`)];
  return [
    schema('exempt', 'exempt', 1, undefined, everything(group('system:masters'))),
    schema('catch-all', 'catch-all', 10_000, 'ByUser', everything(...everybody)),
    schema('system-nodes', 'system', 500, 'ByUser', everything(group('system:nodes'))),
    schema(
      'system-leader-election',
      'leader-election',
      100,
      'ByUser',
      elections([systemNamespace], ...components, systemAccounts),
    ),
    schema(
      'workload-leader-election',
      'leader-election',
      200,
      'ByUser',
      elections(['*'], systemAccounts),
    ),
    ...[controllers, scheduler].map((name) =>
      schema(name, 'workload-high', 800, 'ByNamespace', everything(user(`system:${name}`))),
    ),
    schema(
      `${systemNamespace}-service-accounts`,
      'workload-high',
      900,
      'ByNamespace',
      everything(systemAccounts),
    ),
    schema(
      'service-accounts',
      'workload-low',
      9_000,
      'ByUser',
      everything(group('system:serviceaccounts')),
    ),
    schema('global-default', 'global-default', 9_900, 'ByUser', everything(...everybody)),
  ];
}

/**
 * Reports whether the server maintains the spec of this object: always for a mandatory one, else by
 * the annotation, and without one as long as the spec has never changed.
 */
export function isSpecManaged(
  { metadata }: FlowSchema | PriorityLevelConfiguration,
  isMandatory: boolean,
): boolean {
  const autoUpdate = metadata?.annotations?.[autoUpdateAnnotation()];
  return (
    isMandatory || autoUpdate === 'true' || (autoUpdate !== 'false' && metadata?.generation === 1)
  );
}

/** The mandatory object with this name, if any. */
export function mandatoryObject<T extends FlowSchema | PriorityLevelConfiguration>(
  objects: readonly T[],
  name: string | undefined,
): T | undefined {
  return mandatoryNames.includes(name)
    ? objects.find(({ metadata }) => metadata?.name === name)
    : undefined;
}
