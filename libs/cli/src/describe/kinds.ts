/** Descriptions of the most common kinds. `any.ts` describes every other kind. */
import { resources } from '@orch/client';
import type { Deployment, ReplicaSet } from '@orch/types/apps/v1';
import type { Endpoints, Node, Pod, Secret, Service, Toleration } from '@orch/types/core/v1';
import { selectorText } from '../resources/workload-pods.js';
import type { Session } from '../session/session.js';
import { controllerTitle, describeConditions, describeMetadata } from './common.js';
import { describeContainers, describeTemplate, describeVolumes } from './containers.js';
import { Description } from './description.js';

export function describePod(pod: Pod): Description {
  const { spec, status } = pod;
  const description = new Description();
  const phase = pod.metadata?.deletionTimestamp ? 'Terminating' : status?.phase;
  describeMetadata(description, pod);
  description
    .field('Priority', spec?.priority ?? 0)
    .field(
      'Node',
      spec?.nodeName ? [spec.nodeName, status?.hostIP].filter(Boolean).join('/') : '<none>',
    )
    .field('Service Account', spec?.serviceAccountName)
    .field('Start Time', status?.startTime)
    .field('Status', phase)
    .field('Reason', status?.reason)
    .field('Message', status?.message)
    .field('IP', status?.podIP)
    .field('Controlled By', controllerTitle(pod));
  describeContainers(
    description,
    'Init Containers',
    spec?.initContainers ?? [],
    status?.initContainerStatuses ?? [],
  );
  describeContainers(
    description,
    'Containers',
    spec?.containers ?? [],
    status?.containerStatuses ?? [],
  );
  describeConditions(description, status?.conditions);
  describeVolumes(description, spec?.volumes ?? []);
  return description
    .field('QoS Class', status?.qosClass)
    .pairs('Node-Selectors', spec?.nodeSelector)
    .field('Tolerations', (spec?.tolerations ?? []).map(tolerationText));
}

function tolerationText({ key, operator, value, effect, tolerationSeconds }: Toleration): string {
  const what = `${key ?? ''}${value ? `=${value}` : ''}${effect ? `:${effect}` : ''}`;
  const op = operator === 'Exists' ? ' op=Exists' : '';
  return `${what}${op}${tolerationSeconds === undefined ? '' : ` for ${tolerationSeconds}s`}`;
}

export async function describeNode(node: Node, session: Session): Promise<Description> {
  const { spec, status } = node;
  const description = new Description();
  describeMetadata(description, node);
  const taints = (spec?.taints ?? []).map(
    ({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`,
  );
  description
    .field('Created', node.metadata?.creationTimestamp)
    .field('Taints', taints)
    .field('Unschedulable', String(spec?.unschedulable ?? false));
  describeConditions(description, status?.conditions);
  description
    .field(
      'Addresses',
      (status?.addresses ?? []).map(({ type, address }) => `${type}: ${address}`),
    )
    .pairs('Capacity', status?.capacity, ': ')
    .pairs('Allocatable', status?.allocatable, ': ')
    .block('System Info', (inner) => {
      for (const [key, value] of Object.entries(status?.nodeInfo ?? {})) {
        inner.field(key, String(value));
      }
    })
    .field('PodCIDR', spec?.podCIDR);
  const fieldSelector = `spec.nodeName=${node.metadata?.name},status.phase!=Failed,status.phase!=Succeeded`;
  const { items } = await session.client.resource(resources.pods).listAll({ fieldSelector });
  const rows = items.map((pod) => [
    pod.metadata?.namespace ?? '',
    pod.metadata?.name ?? '',
    ...(['cpu', 'memory'] as const).map(
      (name) =>
        (pod.spec?.containers ?? [])
          .map((container) => container.resources?.requests?.[name])
          .filter((amount) => amount !== undefined)
          .join(' + ') || '0',
    ),
  ]);
  const head = ['Namespace', 'Name', 'CPU Requests', 'Memory Requests'];
  return description.table('Pods', [head, ...rows]);
}

export async function describeDeployment(
  deployment: Deployment,
  session: Session,
): Promise<Description> {
  const { metadata, spec, status } = deployment;
  const description = new Description();
  describeMetadata(description, deployment);
  const rolling = spec?.strategy?.rollingUpdate;
  description
    .field('Created', metadata?.creationTimestamp)
    .field('Selector', selectorText(spec?.selector))
    .field(
      'Replicas',
      `${spec?.replicas ?? 0} desired | ${status?.updatedReplicas ?? 0} updated | ${status?.replicas ?? 0} total | ${status?.availableReplicas ?? 0} available | ${status?.unavailableReplicas ?? 0} unavailable`,
    )
    .field('StrategyType', spec?.strategy?.type)
    .field('MinReadySeconds', spec?.minReadySeconds ?? 0)
    .field(
      'RollingUpdateStrategy',
      rolling && `${rolling.maxUnavailable} max unavailable, ${rolling.maxSurge} max surge`,
    );
  describeTemplate(description, spec?.template);
  describeConditions(description, status?.conditions);
  const sets = await replicaSetsOf(deployment, session);
  const title = (set: ReplicaSet) =>
    `${set.metadata?.name} (${set.status?.replicas ?? 0}/${set.spec?.replicas ?? 0} replicas created)`;
  const inUse = sets.filter((set) => (set.status?.replicas ?? 0) + (set.spec?.replicas ?? 0) > 0);
  return description.field('ReplicaSets', inUse.map(title));
}

async function replicaSetsOf(deployment: Deployment, session: Session): Promise<ReplicaSet[]> {
  const { uid, namespace } = deployment.metadata ?? {};
  const labelSelector = selectorText(deployment.spec?.selector);
  const list = await session.client
    .resource(resources.replicaSets, namespace)
    .listAll({ labelSelector });
  return list.items.filter((set) =>
    set.metadata?.ownerReferences?.some((owner) => owner.uid === uid),
  );
}

export async function describeService(service: Service, session: Session): Promise<Description> {
  const { metadata, spec, status } = service;
  const description = new Description();
  describeMetadata(description, service);
  description
    .pairs('Selector', spec?.selector)
    .field('Type', spec?.type)
    .field('IP Family Policy', spec?.ipFamilyPolicy)
    .field('IP', spec?.clusterIP)
    .field('External IPs', spec?.externalIPs?.join(','))
    .field('External Name', spec?.externalName)
    .field(
      'LoadBalancer Ingress',
      status?.loadBalancer?.ingress?.map(({ ip, hostname }) => ip ?? hostname ?? '').join(', '),
    );
  const endpoints = await session.client
    .resource(resources.endpoints, metadata?.namespace)
    .list({ fieldSelector: `metadata.name=${metadata?.name}` });
  for (const port of spec?.ports ?? []) {
    const protocol = port.protocol ?? 'TCP';
    description
      .field('Port', `${port.name || '<unset>'} ${port.port}/${protocol}`)
      .field('TargetPort', `${port.targetPort ?? port.port}/${protocol}`)
      .field('NodePort', port.nodePort && `${port.name || '<unset>'} ${port.nodePort}/${protocol}`)
      .field('Endpoints', addressesOf(endpoints.items[0], port.name ?? ''));
  }
  return description
    .field('Session Affinity', spec?.sessionAffinity)
    .field('External Traffic Policy', spec?.externalTrafficPolicy);
}

function addressesOf(endpoints: Endpoints | undefined, portName: string): string {
  const addresses = (endpoints?.subsets ?? []).flatMap((subset) => {
    const port = subset.ports?.find((candidate) => (candidate.name ?? '') === portName);
    return port ? (subset.addresses ?? []).map(({ ip }) => `${ip}:${port.port}`) : [];
  });
  const printed = addresses.slice(0, 8).join(',');
  return addresses.length > 8
    ? `${printed} + ${addresses.length - 8} more...`
    : printed || '<none>';
}

export function describeReplicaSet(set: ReplicaSet): Description {
  const { metadata, spec, status } = set;
  const description = new Description();
  describeMetadata(description, set);
  description
    .field('Created', metadata?.creationTimestamp)
    .field('Controlled By', controllerTitle(set))
    .field('Selector', selectorText(spec?.selector))
    .field(
      'Replicas',
      `${status?.replicas ?? 0} current | ${spec?.replicas ?? 0} desired | ${status?.readyReplicas ?? 0} ready | ${status?.availableReplicas ?? 0} available`,
    );
  describeTemplate(description, spec?.template);
  describeConditions(description, status?.conditions);
  return description;
}

/** Prints only the sizes of the values, because descriptions are often shared. */
export function describeSecret(secret: Secret): Description {
  const description = new Description();
  describeMetadata(description, secret);
  const sizes = Object.entries(secret.data ?? {}).map(
    ([key, value]) => [key, `${Buffer.byteLength(value, 'base64')} bytes`] as const,
  );
  return description
    .field('Created', secret.metadata?.creationTimestamp)
    .field('Type', secret.type)
    .pairs('Data', Object.fromEntries(sizes), ': ');
}
