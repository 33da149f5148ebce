/** Short ways to the objects that the tests need. */
import type { DaemonSet, Deployment, ReplicaSet, StatefulSet } from '@orch/types/apps/v1';
import type { Node, Pod, Service, Taint } from '@orch/types/core/v1';

export const epochMs = Date.UTC(2021, 5, 1);
export const at = (seconds: number) =>
  `${new Date(epochMs + seconds * 1000).toISOString().slice(0, 19)}Z`;

let uidCount = 0;
const uid = () => `uid-${++uidCount}`;

export interface PodFacts {
  name?: string;
  namespace?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  node?: string;
  phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  ready?: boolean;
  /** Seconds after the epoch. */
  readySince?: number;
  created?: number;
  restarts?: number;
  ip?: string;
  deleting?: boolean;
  spec?: Partial<NonNullable<Pod['spec']>>;
}

export function pod(facts: PodFacts = {}): Pod {
  const { phase = 'Running', ready = phase === 'Running' } = facts;
  return {
    metadata: {
      name: facts.name ?? 'pod',
      namespace: facts.namespace ?? 'default',
      uid: uid(),
      resourceVersion: '1',
      labels: facts.labels ?? {},
      annotations: facts.annotations ?? {},
      creationTimestamp: at(facts.created ?? 0),
      ...(facts.deleting ? { deletionTimestamp: at(0) } : {}),
    },
    spec: {
      containers: [],
      restartPolicy: 'Always',
      ...(facts.node ? { nodeName: facts.node } : {}),
      ...facts.spec,
    },
    status: {
      phase,
      ...(facts.ip ? { podIP: facts.ip, podIPs: [{ ip: facts.ip }] } : {}),
      conditions: [
        {
          type: 'Ready',
          status: ready ? 'True' : 'False',
          lastTransitionTime: at(facts.readySince ?? 0),
        },
      ],
      containerStatuses: [
        { name: 'c', image: 'i', imageID: '', ready, restartCount: facts.restarts ?? 0 },
      ],
    },
  };
}

export function replicaSet(facts: {
  name?: string;
  replicas?: number;
  status?: ReplicaSet['status'];
  annotations?: Record<string, string>;
  image?: string;
  created?: number;
}): ReplicaSet {
  const labels = { app: 'web' };
  return {
    metadata: {
      name: facts.name ?? 'web-1',
      namespace: 'default',
      uid: uid(),
      generation: 1,
      labels,
      annotations: facts.annotations ?? {},
      creationTimestamp: at(facts.created ?? 0),
    },
    spec: {
      replicas: facts.replicas ?? 1,
      selector: { matchLabels: labels },
      template: template(facts.image ?? 'web:1'),
    },
    status: { replicas: 0, observedGeneration: 1, ...facts.status },
  };
}

export function template(image: string) {
  return { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } };
}

export function deployment(facts: {
  replicas?: number;
  image?: string;
  strategy?: NonNullable<Deployment['spec']>['strategy'];
  status?: Deployment['status'];
  spec?: Partial<NonNullable<Deployment['spec']>>;
  annotations?: Record<string, string>;
}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'uid-web',
      generation: 1,
      annotations: facts.annotations ?? {},
    },
    spec: {
      replicas: facts.replicas ?? 3,
      selector: { matchLabels: { app: 'web' } },
      template: template(facts.image ?? 'web:1'),
      strategy: facts.strategy ?? {
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' },
      },
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 10,
      ...facts.spec,
    },
    ...(facts.status ? { status: facts.status } : {}),
  };
}

export function service(spec: NonNullable<Service['spec']>): Service {
  return {
    metadata: { name: 'web', namespace: 'default', creationTimestamp: at(0) },
    spec: { selector: { app: 'web' }, ...spec },
  };
}

export function statefulSet(facts: {
  replicas?: number;
  policy?: string;
  strategy?: string;
  partition?: number;
  image?: string;
  spec?: Partial<NonNullable<StatefulSet['spec']>>;
}): StatefulSet {
  const { partition = 0, strategy = 'RollingUpdate' } = facts;
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'default', uid: 'uid-web', generation: 1 },
    spec: {
      replicas: facts.replicas ?? 3,
      serviceName: 'svc',
      selector: { matchLabels: { app: 'web' } },
      template: template(facts.image ?? 'web:1'),
      podManagementPolicy: facts.policy ?? 'OrderedReady',
      updateStrategy: {
        type: strategy,
        ...(strategy === 'RollingUpdate' ? { rollingUpdate: { partition } } : {}),
      },
      revisionHistoryLimit: 10,
      ...facts.spec,
    },
  };
}

export function daemonSet(facts: {
  image?: string;
  maxUnavailable?: number | string;
  maxSurge?: number | string;
  generation?: number;
  spec?: Partial<NonNullable<DaemonSet['spec']>>;
}): DaemonSet {
  const { maxUnavailable = 1, maxSurge = 0, generation = 1 } = facts;
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'uid-web',
      generation,
      annotations: { 'deprecated.daemonset.template.generation': String(generation) },
    },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: template(facts.image ?? 'web:1'),
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } },
      revisionHistoryLimit: 10,
      ...facts.spec,
    },
  };
}

export function node(
  name: string,
  facts: { labels?: Record<string, string>; taints?: Taint[] } = {},
): Node {
  return {
    metadata: { name, uid: uid(), labels: facts.labels ?? {} },
    spec: { ...(facts.taints ? { taints: facts.taints } : {}) },
  };
}
