/** The families of `/metrics/resource`: CPU and memory of the node, pods and containers. Pure. */
import type { ContainerUsage, PodUsage, UsageSnapshot } from '../stats/usage-snapshot.js';
import type { Family, Sample } from './exposition.js';

/** `snapshot`: undefined before the first measurement, which counts as a failed scrape. */
export function resourceFamilies(snapshot: UsageSnapshot | undefined): Family[] {
  return [
    ...(snapshot ? nodeFamilies(snapshot) : []),
    ...(snapshot ? podFamilies(snapshot) : []),
    {
      name: 'scrape_error',
      help: '[ALPHA] 1 if the usage of containers could not be measured, 0 otherwise',
      type: 'gauge',
      samples: [{ labels: {}, value: snapshot ? 0 : 1 }],
    },
  ];
}

function nodeFamilies({ node }: UsageSnapshot): Family[] {
  return [
    {
      name: 'node_cpu_usage_seconds_total',
      help: '[ALPHA] CPU time of the node since its boot, in core-seconds',
      type: 'counter',
      samples: [{ labels: {}, value: seconds(node.cpu.coreNanoseconds) }],
    },
    {
      name: 'node_memory_working_set_bytes',
      help: '[ALPHA] Working set of the node in bytes',
      type: 'gauge',
      samples: [{ labels: {}, value: node.memory.workingSetBytes }],
    },
  ];
}

function podFamilies({ pods }: UsageSnapshot): Family[] {
  const ofContainers = (value: (container: ContainerUsage) => number): Sample[] =>
    pods.flatMap(({ pod, containers }) =>
      containers.map((container) => ({
        labels: { container: container.name, namespace: pod.namespace, pod: pod.name },
        value: value(container),
      })),
    );
  const ofPods = (value: (pod: PodUsage) => number): Sample[] =>
    pods.map((usage) => ({
      labels: { namespace: usage.pod.namespace, pod: usage.pod.name },
      value: value(usage),
    }));
  return [
    {
      name: 'container_cpu_usage_seconds_total',
      help: '[ALPHA] CPU time of the container since its start, in core-seconds',
      type: 'counter',
      samples: ofContainers(({ cpu }) => seconds(cpu.coreNanoseconds)),
    },
    {
      name: 'container_memory_working_set_bytes',
      help: '[ALPHA] Working set of the container in bytes',
      type: 'gauge',
      samples: ofContainers(({ memoryBytes }) => memoryBytes),
    },
    {
      name: 'container_start_time_seconds',
      help: '[ALPHA] Start time of the container since the epoch, in seconds',
      type: 'gauge',
      samples: ofContainers(({ startedAtMs }) => startedAtMs / 1_000),
    },
    {
      name: 'pod_cpu_usage_seconds_total',
      help: '[ALPHA] CPU time of the pod since its start, in core-seconds',
      type: 'counter',
      samples: ofPods(({ cpu }) => seconds(cpu.coreNanoseconds)),
    },
    {
      name: 'pod_memory_working_set_bytes',
      help: '[ALPHA] Working set of the pod in bytes',
      type: 'gauge',
      samples: ofPods(({ memoryBytes }) => memoryBytes),
    },
  ];
}

function seconds(nanoseconds: number): number {
  return nanoseconds / 1e9;
}
