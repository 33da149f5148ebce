/**
 * The controllers against the real API server, through its interface only. A fake scheduler and
 * node agent reports pods as running, or never if their image says so; the tests check the
 * reactions of the controllers.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { eventually } from './support/wait.js';

interface Reference {
  kind: string;
  uid: string;
}
interface Thing {
  metadata: {
    name: string;
    uid: string;
    generation: number;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: Reference[];
  };
  spec: {
    replicas: number;
    nodeName?: string;
    taints?: { key: string; effect: string }[];
    template: { spec: { containers: { image: string }[] } };
    containers: { image: string }[];
  };
  status?: {
    phase?: string;
    replicas?: number;
    updatedReplicas?: number;
    availableReplicas?: number;
    unavailableReplicas?: number;
    observedGeneration?: number;
    conditions?: { type: string; status: string; reason: string; message: string }[];
  };
  subsets?: { addresses?: { ip: string }[]; ports?: { port: number }[] }[];
}

const merge = 'application/merge-patch+json';
const namespace = 'controllers';
const apps = `/apis/apps/v1/namespaces/${namespace}`;
const core = `/api/v1/namespaces/${namespace}`;

/** Binds pods, reports them as running, and removes terminating pods. */
class StandIn {
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> = Promise.resolve();
  private addressCount = 0;

  constructor(private readonly api: Api) {}

  start(): void {
    this.timer = setTimeout(() => {
      this.working = this.round().finally(() => this.start());
    }, 50);
  }

  async stop(): Promise<void> {
    await this.working;
    clearTimeout(this.timer);
  }

  private async round(): Promise<void> {
    const { body } = await this.api.call<{ items?: Thing[] }>('GET', `${core}/pods`);
    for (const pod of body.items ?? []) await this.attend(pod);
  }

  private async attend(pod: Thing): Promise<void> {
    const path = `${core}/pods/${pod.metadata.name}`;
    if (pod.metadata.deletionTimestamp) {
      await this.api.call('DELETE', path, { gracePeriodSeconds: 0 });
    } else if (!pod.spec.nodeName) {
      const target = { kind: 'Node', name: 'stand-in' };
      await this.api.call('POST', `${path}/binding`, {
        metadata: { name: pod.metadata.name },
        target,
      });
    } else if (pod.status?.phase === 'Pending' && pod.spec.containers[0]?.image !== 'broken') {
      const podIP = `10.0.0.${++this.addressCount % 250}`;
      const conditions = [{ type: 'Ready', status: 'True' }];
      const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions };
      await this.api.send('PATCH', `${path}/status`, JSON.stringify({ status }), merge);
    }
  }
}

describe('the controllers', () => {
  const cluster = new Cluster({ dialect: 'orch', components: 'apiserver,controller-manager' });
  let api: Api;
  let standIn: StandIn;

  beforeAll(async () => {
    await cluster.up();
    api = new Api(cluster);
    await api.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    standIn = new StandIn(api);
    standIn.start();
  });

  afterAll(async () => {
    await standIn?.stop();
    await api?.close();
    await cluster.destroy();
  });

  const get = async (path: string) => (await api.call<Thing>('GET', path)).body;
  const list = async (path: string) => (await api.call<{ items: Thing[] }>('GET', path)).body.items;
  const patch = (path: string, change: object) =>
    api.send<Thing>('PATCH', path, JSON.stringify(change), merge);
  const isGone = async (path: string) => (await api.call('GET', path)).status === 404;

  const deployment = (name: string, replicas: number, image: string, strategy?: object) => ({
    metadata: { name },
    spec: {
      replicas,
      ...(strategy ? { strategy } : {}),
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name }, annotations: { 'example.com/note': 'of the template' } },
        spec: { containers: [{ name: 'c', image }] },
      },
    },
  });
  const image = (name: string) => ({
    spec: { template: { spec: { containers: [{ name: 'c', image: name }] } } },
  });
  const rolledOut = (name: string, replicas: number) =>
    eventually(`${name} rolled out`, async () => {
      const one = await get(`${apps}/deployments/${name}`);
      const { status } = one;
      const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
      const isSeen = (status?.observedGeneration ?? 0) >= one.metadata.generation;
      return isSeen && counts.every((count) => count === replicas) && one;
    });

  it('give a namespace its service account, also when it is deleted', async () => {
    const path = `${core}/serviceaccounts/default`;
    const first = await eventually('the account', async () => {
      const account = await get(path);
      return account.metadata?.uid;
    });
    await api.call('DELETE', path);
    await eventually('another account', async () => {
      const uid = (await get(path)).metadata?.uid;
      return uid !== undefined && uid !== first;
    });
  });

  it('aggregate the rules of roles that select others by label', async () => {
    const roles = '/apis/rbac.authorization.orch.io/v1/clusterroles';
    const rule = { verbs: ['get'], apiGroups: [''], resources: ['aggregated'] };
    const isInView = async () => {
      const { body } = await api.call('GET', `${roles}/view`);
      const { rules = [] } = body as { rules?: { resources: string[] }[] };
      const holds = (resource: string) =>
        rules.some(({ resources }) => resources.includes(resource));
      return holds('pods') && (holds('aggregated') ? 'with' : 'without');
    };
    await api.call('POST', roles, {
      metadata: {
        name: 'more-to-view',
        labels: { 'rbac.authorization.orch.io/aggregate-to-view': 'true' },
      },
      rules: [rule],
    });
    await eventually('the rule in the role', async () => (await isInView()) === 'with');
    await api.call('DELETE', `${roles}/more-to-view`);
    await eventually('the role without it', async () => (await isInView()) === 'without');
  });

  it('roll out, scale, pause, get stuck and roll back', async () => {
    const path = `${apps}/deployments/web`;
    await api.call('POST', `${apps}/deployments`, deployment('web', 4, 'web:1'));
    const created = await rolledOut('web', 4);
    expect(created.metadata.generation).toBe(1);
    expect(created.metadata.annotations).toMatchObject({ 'deployment.orch.io/revision': '1' });

    await patch(path, image('web:2'));
    const updated = await rolledOut('web', 4);
    expect(updated.metadata.annotations).toMatchObject({ 'deployment.orch.io/revision': '2' });
    const sizes = (await list(`${apps}/replicasets`)).map((one) => one.spec.replicas).sort();
    expect(sizes).toEqual([0, 4]);
    expect(
      updated.status?.conditions?.map(({ type, reason }) => `${type} ${reason}`).sort(),
    ).toEqual(['Available MinimumReplicasAvailable', 'Progressing NewReplicaSetAvailable']);

    await patch(path, { spec: { paused: true, ...image('web:3').spec } });
    await eventually('the pause', async () =>
      (await get(path)).status?.conditions?.some(({ reason }) => reason === 'DeploymentPaused'),
    );
    await patch(path, { spec: { paused: null, replicas: 6 } });
    await rolledOut('web', 6);

    await patch(path, image('broken'));
    await eventually('the stop', async () => {
      const { status } = await get(path);
      return (status?.updatedReplicas ?? 0) > 0 && status?.availableReplicas === 5;
    });
    await patch(path, { metadata: { annotations: { 'deprecated.deployment.rollback.to': '0' } } });
    await eventually('the rollback', async () => {
      const [container] = (await get(path)).spec.template.spec.containers;
      return container?.image === 'web:3';
    });
    await rolledOut('web', 6);
  });

  it('publish the addresses behind a service', async () => {
    const ports = [{ port: 80, targetPort: 8080 }];
    await api.call('POST', `${core}/services`, {
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports },
    });
    const addresses = async () =>
      (await get(`${core}/endpoints/web`)).subsets?.[0]?.addresses ?? [];
    await eventually('six addresses', async () => (await addresses()).length === 6);
    await patch(`${apps}/deployments/web`, { spec: { replicas: 2 } });
    await eventually('two addresses', async () => (await addresses()).length === 2);
    await api.call('DELETE', `${core}/services/web`);
    await eventually('no endpoints', () => isGone(`${core}/endpoints/web`));
  });

  it('replace, release and adopt pods', async () => {
    const podsPath = `${core}/pods`;
    const live = async () =>
      (await list(`${podsPath}?labelSelector=app%3Dweb`)).filter(
        (pod) => !pod.metadata.deletionTimestamp,
      );
    const [victim] = await live();
    await api.call('DELETE', `${podsPath}/${victim!.metadata.name}`);
    await eventually('a new pod', async () => {
      const uids = (await live()).map((pod) => pod.metadata.uid);
      return uids.length === 2 && !uids.includes(victim!.metadata.uid);
    });
    const [one] = await live();
    const path = `${podsPath}/${one!.metadata.name}`;
    await patch(path, { metadata: { labels: { app: 'own' } } });
    await eventually(
      'the release',
      async () => !(await get(path)).metadata.ownerReferences?.length,
    );
    await eventually('its replacement', async () => (await live()).length === 2);
    await patch(path, { metadata: { labels: { app: 'web' } } });
    await eventually('two owned again', async () => {
      const pods = await live();
      return pods.length === 2 && pods.every((pod) => pod.metadata.ownerReferences?.length === 1);
    });
  });

  it('delete with orphaned, background and foreground dependents', async () => {
    const of = (kind: string) => list(`${apps}/${kind}?labelSelector=app%3Dre`);
    const path = `${apps}/deployments/re`;
    const make = async () => {
      const strategy = { type: 'Recreate' };
      await api.call('POST', `${apps}/deployments`, deployment('re', 2, 're:1', strategy));
      await rolledOut('re', 2);
    };
    await make();
    await api.call('DELETE', path, { propagationPolicy: 'Orphan' });
    await eventually('the orphans', async () => {
      const sets = await of('replicasets');
      const areFree = sets.every((one) => !one.metadata.ownerReferences?.length);
      return sets.length === 1 && areFree && (await isGone(path));
    });
    await make();
    expect((await of('replicasets')).map((one) => one.metadata.ownerReferences?.length)).toEqual([
      1,
    ]);
    await api.call('DELETE', path, { propagationPolicy: 'Foreground' });
    await eventually('the deployment to go', () => isGone(path));
    expect(await of('replicasets')).toEqual([]);
    await api.call('DELETE', `${apps}/deployments/web`, { propagationPolicy: 'Background' });
    await eventually('no pods', async () => (await list(`${core}/pods`)).length === 0);
  });

  it('recount quotas when objects are deleted, and when quotas change', async () => {
    const quota = `${core}/resourcequotas/q`;
    const used = async () => {
      const { body } = await api.call<{ status?: { used?: object } }>('GET', quota);
      return Object.entries(body.status?.used ?? {})
        .map(([name, amount]) => `${name}=${amount}`)
        .sort()
        .join();
    };
    const recounted = (expected: string) =>
      eventually('quota is recounted', async () => {
        const seen = await used();
        if (seen !== expected) throw new Error(`${seen} instead of ${expected}`);
        return true;
      });
    const hard = { 'count/secrets': '50', pods: '20', 'count/leases.coordination.orch.io': '1' };
    await api.call('POST', `${core}/secrets`, { metadata: { name: 'one' } });
    await api.call('POST', `${core}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard } });
    const { body } = await api.call<{ items: object[] }>('GET', `${core}/secrets`);
    const [made, pods] = [body.items.length, (await list(`${core}/pods`)).length];
    const counts = (secrets: number, leases: number) =>
      `count/leases.coordination.orch.io=${leases},count/secrets=${secrets},pods=${pods}`;
    await recounted(counts(made, 0));

    const leases = `/apis/coordination.orch.io/v1/namespaces/${namespace}/leases`;
    await api.call('POST', leases, { metadata: { name: 'l' } });
    await api.call('POST', `${core}/secrets`, { metadata: { name: 'two' } });
    expect(await used()).toBe(counts(made + 1, 1));
    expect((await api.call('POST', leases, { metadata: { name: 'm' } })).status).toBe(403);

    await api.call('DELETE', `${leases}/l`);
    await api.call('DELETE', `${core}/secrets/one`);
    await recounted(counts(made, 0));
    expect((await api.call('POST', leases, { metadata: { name: 'm' } })).status).toBe(201);

    await patch(quota, { spec: { hard: { 'count/secrets': null, pods: null } } });
    const left = 'count/leases.coordination.orch.io=1';
    await recounted(left);
    await api.call('DELETE', quota);
  });

  it('protect claims while pods use them, and release claims and volumes', async () => {
    const resource = { resources: { requests: { storage: '1Gi' } } };
    const claim = { spec: { accessModes: ['ReadWriteOnce'], ...resource } };
    for (const name of ['used', 'unused']) {
      await api.call('POST', `${core}/persistentvolumeclaims`, { metadata: { name }, ...claim });
    }
    const volume = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } };
    const spec = { ...volume, hostPath: { path: '/nowhere' } };
    await api.call('POST', '/api/v1/persistentvolumes', { metadata: { name: 'free' }, spec });
    await api.call('POST', `${core}/pods`, {
      metadata: { name: 'user' },
      spec: {
        nodeName: 'nowhere',
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'used' } }],
      },
    });
    const paths = ['used', 'unused'].map((name) => `${core}/persistentvolumeclaims/${name}`);
    for (const path of [...paths, '/api/v1/persistentvolumes/free']) await api.call('DELETE', path);
    await eventually('the unused to go', () => isGone(paths[1]!));
    await eventually('the volume to go', () => isGone('/api/v1/persistentvolumes/free'));
    expect(await isGone(paths[0]!)).toBe(false);
    await api.call('DELETE', `${core}/pods/user`, { gracePeriodSeconds: 0 });
    await eventually('the used one to go', () => isGone(paths[0]!));
  });

  it('finalize a namespace when its content is deleted', async () => {
    const path = `/api/v1/namespaces/${namespace}`;
    await api.call('POST', `${apps}/deployments`, deployment('last', 2, 'web:1'));
    await rolledOut('last', 2);
    const held = { name: 'held', finalizers: ['example.com/hold'] };
    await api.call('POST', `${core}/configmaps`, { metadata: held });
    await api.call('DELETE', path);
    await eventually('the message', async () =>
      (await get(path)).status?.conditions?.some(
        ({ type, message }) =>
          type === 'NamespaceFinalizersRemaining' &&
          message.includes('example.com/hold in 1 resource instances'),
      ),
    );
    await patch(`${core}/configmaps/held`, { metadata: { finalizers: null } });
    await eventually('the namespace to go', () => isGone(path));
  });
});
