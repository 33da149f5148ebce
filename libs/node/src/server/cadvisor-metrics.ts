/**
 * The families of `/metrics/cadvisor`: the machine, and the usage of the node (`id="/"`), the pods
 * (without `container`) and the containers. Pure.
 */
import type { ContainerUsage, PodUsage, UsageSnapshot } from '../stats/usage-snapshot.js';
import type { Family, Sample } from './exposition.js';

export interface Machine {
  readonly cpuCores: number;
  readonly memoryBytes: number;
}

type Labels = Readonly<Record<string, string>>;

/** One row of the container families. */
interface Subject {
  readonly labels: Labels;
  readonly cpuSeconds: number;
  readonly usageBytes: number;
  readonly workingSetBytes: number;
  readonly rssBytes: number;
  readonly startedAtMs: number;
  /** Unknown for the node. */
  readonly processCount?: number;
}

/** The families of the machine; those of containers need a measurement. */
export function machineFamilies({ cpuCores, memoryBytes }: Machine): Family[] {
  return [
    gauge('machine_cpu_cores', 'Number of CPU cores', cpuCores),
    gauge('machine_memory_bytes', 'Memory of the machine in bytes', memoryBytes),
  ];
}

export function cadvisorFamilies(snapshot: UsageSnapshot): Family[] {
  const subjects = [
    nodeSubject(snapshot),
    ...snapshot.pods.flatMap((pod) => [
      podSubject(pod),
      ...pod.containers.map((container) => containerSubject(pod, container)),
    ]),
  ];
  const samples = (value: (subject: Subject) => number | undefined, more: Labels = {}): Sample[] =>
    subjects.flatMap((subject) => {
      const found = value(subject);
      return found === undefined ? [] : [{ labels: { ...subject.labels, ...more }, value: found }];
    });
  return [
    {
      name: 'container_cpu_usage_seconds_total',
      help: 'CPU time in core-seconds',
      type: 'counter',
      samples: samples(({ cpuSeconds }) => cpuSeconds, { cpu: 'total' }),
    },
    {
      name: 'container_last_seen',
      help: 'Time of the last measurement since the epoch, in seconds',
      type: 'gauge',
      samples: samples(() => Math.floor(snapshot.atMs / 1_000)),
    },
    {
      name: 'container_memory_rss',
      help: 'Memory that no file backs, in bytes',
      type: 'gauge',
      samples: samples(({ rssBytes }) => rssBytes),
    },
    {
      name: 'container_memory_usage_bytes',
      help: 'Memory in use, caches included, in bytes',
      type: 'gauge',
      samples: samples(({ usageBytes }) => usageBytes),
    },
    {
      name: 'container_memory_working_set_bytes',
      help: 'Working set in bytes',
      type: 'gauge',
      samples: samples(({ workingSetBytes }) => workingSetBytes),
    },
    {
      name: 'container_processes',
      help: 'Number of processes',
      type: 'gauge',
      samples: samples(({ processCount }) => processCount),
    },
    {
      name: 'container_start_time_seconds',
      help: 'Start time since the epoch, in seconds',
      type: 'gauge',
      samples: samples(({ startedAtMs }) => startedAtMs / 1_000),
    },
  ];
}

function gauge(name: string, help: string, value: number): Family {
  return { name, help, type: 'gauge', samples: [{ labels: {}, value }] };
}

function nodeSubject({ node }: UsageSnapshot): Subject {
  const { usageBytes, workingSetBytes, rssBytes } = node.memory;
  return {
    labels: { container: '', id: '/', image: '', name: '', namespace: '', pod: '' },
    cpuSeconds: node.cpu.coreNanoseconds / 1e9,
    usageBytes,
    workingSetBytes,
    rssBytes,
    startedAtMs: node.startedAtMs,
  };
}

function podSubject({ pod, cpu, memoryBytes, startedAtMs, processCount }: PodUsage): Subject {
  return {
    labels: {
      container: '',
      id: `/pods/${pod.uid}`,
      image: '',
      name: '',
      namespace: pod.namespace,
      pod: pod.name,
    },
    cpuSeconds: cpu.coreNanoseconds / 1e9,
    ...sameMemory(memoryBytes),
    startedAtMs,
    processCount,
  };
}

function containerSubject({ pod }: PodUsage, container: ContainerUsage): Subject {
  const { id, name, image, cpu, memoryBytes, startedAtMs, processCount } = container;
  return {
    labels: {
      container: name,
      id: `/pods/${pod.uid}/${id}`,
      image,
      name: id,
      namespace: pod.namespace,
      pod: pod.name,
    },
    cpuSeconds: cpu.coreNanoseconds / 1e9,
    ...sameMemory(memoryBytes),
    startedAtMs,
    processCount,
  };
}

/** Runtimes report one amount of memory: the working set. */
function sameMemory(bytes: number) {
  return { usageBytes: bytes, workingSetBytes: bytes, rssBytes: bytes };
}
