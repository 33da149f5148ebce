/** The objects of the bench of the controller manager, and what a node agent would write. */

/** Requests that run concurrently. */
const batchSize = 50;

/** Runs `act` for each index below `count`, some concurrently. */
export async function inBatches(count, act) {
  let next = 0;
  const work = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: Math.min(batchSize, count) }, work));
}

const ready = (now) => ({
  ...{ type: 'Ready', status: 'True', reason: 'Bench', message: '' },
  ...{ lastHeartbeatTime: now, lastTransitionTime: now },
});

export function node(index) {
  const resources = { cpu: '64', memory: '256Gi', pods: '110' };
  const now = new Date().toISOString();
  return {
    ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: `node-${index}` } },
    status: { capacity: resources, allocatable: resources, conditions: [ready(now)] },
  };
}

export function deployment(index, replicas) {
  const labels = { app: `app-${index}` };
  const resources = { requests: { cpu: '10m', memory: '16Mi' } };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: `app-${index}` } },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'app', image: 'app', resources }] },
      },
    },
  };
}

export function service(index, deploymentCount) {
  return {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: `service-${index}` } },
    spec: { selector: { app: `app-${index % deploymentCount}` }, ports: [{ port: 80 }] },
  };
}

export function runningStatus(index) {
  const now = new Date().toISOString();
  const podIP = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
  const condition = { type: 'Ready', status: 'True', lastTransitionTime: now };
  return {
    ...{ phase: 'Running', startTime: now, podIP, podIPs: [{ ip: podIP }], hostIP: '127.0.0.1' },
    conditions: [condition, { ...condition, type: 'PodScheduled' }],
  };
}
