/** The load of a scale test: deployments behind services, and replaced pods at a constant rate. */

const namespace = 'scale';
const apps = '/apis/apps/v1';
const pods = `/api/v1/namespaces/${namespace}/pods`;
const writerCount = 16;
const churnPeriodMs = 1_000;

/** Runs `work` for the numbers 0 to `count - 1`, with `writerCount` at a time. */
async function inParallel(count, work) {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: writerCount }, worker));
}

/** Creates as many deployments as services, which share `podCount` pods. */
export async function createLoad(cluster, { services, pods: podCount }) {
  const metadata = (name) => ({ name, namespace });
  await cluster.call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  await inParallel(services, async (index) => {
    const name = `app-${index}`;
    const labels = { app: name };
    const replicas = Math.floor(podCount / services) + (index < podCount % services ? 1 : 0);
    await cluster.call('POST', `/api/v1/namespaces/${namespace}/services`, {
      metadata: metadata(name),
      spec: { selector: labels, ports: [{ port: 80 }] },
    });
    const containers = [
      { name: 'main', image: 'app:1', resources: { requests: { cpu: '50m', memory: '64Mi' } } },
    ];
    await cluster.call('POST', `${apps}/namespaces/${namespace}/deployments`, {
      metadata: metadata(name),
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers,
            terminationGracePeriodSeconds: 5,
            automountServiceAccountToken: false,
          },
        },
      },
    });
  });
}

/** Returns the pods of the load. */
export async function listPods(cluster) {
  return (await cluster.json('GET', `${pods}?resourceVersion=0`)).items;
}

export const isReady = ({ metadata, status }) =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True');

/** Returns the ready pods of one deployment, or of all. */
export async function readyReplicas(cluster, name) {
  const path = `${apps}/namespaces/${namespace}/deployments`;
  const all =
    name === undefined
      ? (await cluster.json('GET', `${path}?resourceVersion=0`)).items
      : [await cluster.json('GET', `${path}/${name}`)];
  return all.reduce((sum, { status }) => sum + (status?.readyReplicas ?? 0), 0);
}

/** Adds a pod to a deployment; returns its name and the wanted number of pods. */
export async function scaleUp(cluster) {
  const name = 'app-0';
  const path = `${apps}/namespaces/${namespace}/deployments/${name}/scale`;
  const scale = await cluster.json('GET', path);
  scale.spec.replicas += 1;
  await cluster.call('PUT', path, scale);
  return { name, replicas: scale.spec.replicas };
}

/** Deletes `perSecond` pods each second, which their deployments replace. Returns the number. */
export async function churn(cluster, perSecond, seconds) {
  const names = (await listPods(cluster)).filter(isReady).map(({ metadata }) => metadata.name);
  let deletedCount = 0;
  for (let second = 0; second < seconds; second += 1) {
    const pause = new Promise((done) => setTimeout(done, churnPeriodMs));
    const chosen = names.splice(0, perSecond);
    await inParallel(chosen.length, (index) => cluster.call('DELETE', `${pods}/${chosen[index]}`));
    deletedCount += chosen.length;
    await pause;
  }
  return deletedCount;
}

/** Seconds from the creation of each pod until it was ready, sorted; the API states seconds. */
export function startSeconds(all) {
  return all
    .filter(isReady)
    .map(({ metadata, status }) => {
      const ready = status.conditions.find(({ type }) => type === 'Ready').lastTransitionTime;
      return (Date.parse(ready) - Date.parse(metadata.creationTimestamp)) / 1_000;
    })
    .sort((left, right) => left - right);
}
