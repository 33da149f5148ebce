/** The bodies in which the server reports usage. */
import { describe, expect, it } from 'vitest';
import type { ContainerId } from '../runtimes/container-runtime.js';
import type { UsageSnapshot } from '../stats/usage-snapshot.js';
import { cadvisorFamilies, machineFamilies } from './cadvisor-metrics.js';
import { exposition } from './exposition.js';
import { probeFamilies } from './probe-metrics.js';
import { resourceFamilies } from './resource-metrics.js';
import { statsSummary } from './stats-summary.js';

const atMs = Date.UTC(2021, 5, 1, 0, 1);
const startedAtMs = Date.UTC(2021, 5, 1);
const pod = { uid: 'u1', namespace: 'default', name: 'web' };

const snapshot: UsageSnapshot = {
  atMs,
  node: {
    startedAtMs,
    cpu: { nanoCores: 5e8, coreNanoseconds: 30e9 },
    memory: {
      capacityBytes: 1000,
      availableBytes: 600,
      usageBytes: 700,
      workingSetBytes: 400,
      rssBytes: 200,
    },
  },
  pods: [
    {
      pod,
      startedAtMs,
      cpu: { nanoCores: undefined, coreNanoseconds: 3e9 },
      memoryBytes: 30,
      processCount: 3,
      containers: [
        {
          id: 'c1' as ContainerId,
          name: 'main',
          image: 'a "b"',
          startedAtMs,
          cpu: { nanoCores: 25e7, coreNanoseconds: 2.5e9 },
          memoryBytes: 20,
          processCount: 2,
        },
        {
          id: 'c2' as ContainerId,
          name: 'new',
          image: 'i',
          startedAtMs,
          cpu: { nanoCores: undefined, coreNanoseconds: 5e8 },
          memoryBytes: 10,
          processCount: 1,
        },
      ],
    },
  ],
};

describe('the summary', () => {
  const time = '2021-06-01T00:01:00Z';
  const startTime = '2021-06-01T00:00:00Z';

  it('has CPU and memory of the node, the pods and the containers, with their times', () => {
    const memory = (bytes: number) => ({
      time,
      usageBytes: bytes,
      workingSetBytes: bytes,
      rssBytes: bytes,
    });
    expect(statsSummary('node-1', snapshot)).toEqual({
      node: {
        nodeName: 'node-1',
        startTime,
        cpu: { time, usageNanoCores: 5e8, usageCoreNanoSeconds: 30e9 },
        memory: { time, availableBytes: 600, usageBytes: 700, workingSetBytes: 400, rssBytes: 200 },
      },
      pods: [
        {
          podRef: pod,
          startTime,
          cpu: { time, usageCoreNanoSeconds: 3e9 },
          memory: memory(30),
          containers: [
            {
              name: 'main',
              startTime,
              cpu: { time, usageNanoCores: 25e7, usageCoreNanoSeconds: 2.5e9 },
              memory: memory(20),
            },
            {
              name: 'new',
              startTime,
              cpu: { time, usageCoreNanoSeconds: 5e8 },
              memory: memory(10),
            },
          ],
        },
      ],
    });
  });

  it('adds the file system and the processes unless only CPU and memory are requested', () => {
    const fileSystem = {
      capacityBytes: 10,
      availableBytes: 4,
      usedBytes: 5,
      inodes: 3,
      inodesFree: 2,
      inodesUsed: 1,
    };
    const processLimit = { processCount: 7, processCountMax: 99 };
    expect(statsSummary('node-1', snapshot, { fileSystem, processLimit })).toMatchObject({
      node: { fs: { time, ...fileSystem }, rlimit: { time, maxpid: 99, curproc: 7 } },
      pods: [{ process_stats: { process_count: 3 } }],
    });
  });
});

describe('the metrics of resources', () => {
  it('have the time of the measurement', () => {
    const lines = exposition(resourceFamilies(snapshot), atMs).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        '# TYPE node_cpu_usage_seconds_total counter',
        `node_cpu_usage_seconds_total 30 ${atMs}`,
        `container_cpu_usage_seconds_total{container="main",namespace="default",pod="web"} 2.5 ${atMs}`,
        `container_memory_working_set_bytes{container="new",namespace="default",pod="web"} 10 ${atMs}`,
        `pod_cpu_usage_seconds_total{namespace="default",pod="web"} 3 ${atMs}`,
        `scrape_error 0 ${atMs}`,
      ]),
    );
  });

  it('report an error before the first measurement', () => {
    expect(exposition(resourceFamilies(undefined))).toContain('\nscrape_error 1\n');
  });
});

describe('the metrics of containers', () => {
  it('name the node, the pods and the containers, and escape label values', () => {
    const text = exposition(cadvisorFamilies(snapshot), atMs);
    expect(text).toContain(
      `container_memory_working_set_bytes{container="",id="/",image="",name="",namespace="",pod=""} 400 ${atMs}\n`,
    );
    expect(text).toContain(
      `container_cpu_usage_seconds_total{container="main",id="/pods/u1/c1",image="a \\"b\\"",name="c1",namespace="default",pod="web",cpu="total"} 2.5 ${atMs}\n`,
    );
    expect(text).toContain('container_processes{container="",id="/pods/u1"');
    const machine = exposition(machineFamilies({ cpuCores: 2, memoryBytes: 1000 }));
    expect(machine).toContain('\nmachine_cpu_cores 2\n');
  });
});

describe('the metrics of probes', () => {
  it('count results by container and type', () => {
    const counts = [
      { pod, container: 'main', kind: 'liveness', outcome: 'success', count: 4 },
      { pod, container: 'main', kind: 'readiness', outcome: 'failure', count: 1 },
    ] as const;
    const text = exposition(probeFamilies(counts));
    expect(text).toContain(
      'prober_probe_total{container="main",namespace="default",pod="web",pod_uid="u1",probe_type="Liveness",result="successful"} 4\n',
    );
    expect(text).toContain('probe_type="Readiness",result="failed"} 1\n');
  });
});
