/** CPU time and memory of running containers, summed over their processes. */
import type { ContainerId, ContainerStats, ContainerStatus } from '../container-runtime.js';
import {
  clockTicksPerSecond,
  listPids,
  namespaceOf,
  type ProcessEntry,
  pageBytes,
  processEntry,
} from './proc.js';
import type { StartRecord } from './shims.js';

export interface RunningContainer {
  readonly status: ContainerStatus;
  readonly shimPid: number;
  readonly started: StartRecord;
}

/** One pass over `/proc`: by process namespace where the container has one, by session otherwise. */
export function collectStats(running: readonly RunningContainer[], atMs: number): ContainerStats[] {
  const ownNamespace = namespaceOf(process.pid, 'pid');
  const byNamespace = new Map<string, ContainerId>();
  const bySession = new Map<number, ContainerId>();
  for (const { status, shimPid, started } of running) {
    const namespace = namespaceOf(shimPid, 'pid');
    if (namespace && namespace !== ownNamespace) byNamespace.set(namespace, status.id);
    else bySession.set(started.commandPid, status.id);
  }
  const processes = new Map<ContainerId, ProcessEntry[]>();
  for (const pid of listPids()) {
    const entry = processEntry(pid);
    if (!entry) continue;
    const id = byNamespace.get(namespaceOf(pid, 'pid') ?? '') ?? bySession.get(entry.sessionId);
    if (id) processes.set(id, [...(processes.get(id) ?? []), entry]);
  }
  return running.map(({ status }) => {
    const entries = processes.get(status.id) ?? [];
    const sum = (value: (entry: ProcessEntry) => number) =>
      entries.reduce((total, entry) => total + value(entry), 0);
    return {
      id: status.id,
      pod: status.pod,
      name: status.name,
      atMs,
      cpuNanoseconds: sum((entry) => entry.cpuTicks) * (1e9 / clockTicksPerSecond),
      memoryBytes: sum((entry) => entry.residentPages) * pageBytes,
      processCount: entries.length,
    };
  });
}
