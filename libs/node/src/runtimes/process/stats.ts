/**
 * CPU time and memory of running containers, as sums over their processes. The processes of the
 * supervisor do not count.
 */
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

/** How the processes of containers are found. */
interface Owners {
  /** By process namespace: the container and the session of its supervisor. */
  readonly byNamespace: ReadonlyMap<string, { id: ContainerId; shimSession: number }>;
  /** By the id of the command, which is its session as well. */
  readonly byCommand: ReadonlyMap<number, ContainerId>;
}

/** Scans `/proc` once, unless no container runs. */
export function collectStats(running: readonly RunningContainer[], atMs: number): ContainerStats[] {
  if (running.length === 0) return [];
  const owners = ownersOf(running);
  const entries = new Map<number, ProcessEntry>();
  for (const pid of listPids()) {
    const entry = processEntry(pid);
    if (entry) entries.set(pid, entry);
  }
  const processes = new Map<ContainerId, ProcessEntry[]>();
  for (const entry of entries.values()) {
    const id = containerOf(entry, entries, owners);
    if (!id) continue;
    const known = processes.get(id);
    if (known) known.push(entry);
    else processes.set(id, [entry]);
  }
  return running.map(({ status }) => {
    const own = processes.get(status.id) ?? [];
    const sum = (value: (entry: ProcessEntry) => number) =>
      own.reduce((total, entry) => total + value(entry), 0);
    return {
      id: status.id,
      pod: status.pod,
      name: status.name,
      atMs,
      cpuNanoseconds: sum((entry) => entry.cpuTicks) * (1e9 / clockTicksPerSecond),
      memoryBytes: sum((entry) => entry.residentPages) * pageBytes,
      processCount: own.length,
    };
  });
}

function ownersOf(running: readonly RunningContainer[]): Owners {
  const ownNamespace = namespaceOf(process.pid, 'pid');
  const byNamespace = new Map<string, { id: ContainerId; shimSession: number }>();
  const byCommand = new Map<number, ContainerId>();
  for (const { status, shimPid, started } of running) {
    const { id } = status;
    const namespace = namespaceOf(shimPid, 'pid');
    if (namespace === undefined || namespace === ownNamespace)
      byCommand.set(started.commandPid, id);
    else byNamespace.set(namespace, { id, shimSession: processEntry(shimPid)?.sessionId ?? 0 });
  }
  return { byNamespace, byCommand };
}

/** Without a process namespace, the descendants of the command belong to its container. */
function containerOf(
  entry: ProcessEntry,
  entries: ReadonlyMap<number, ProcessEntry>,
  { byNamespace, byCommand }: Owners,
): ContainerId | undefined {
  if (byNamespace.size > 0) {
    const owner = byNamespace.get(namespaceOf(entry.pid, 'pid') ?? '');
    if (owner) return entry.sessionId === owner.shimSession ? undefined : owner.id;
  }
  if (byCommand.size === 0) return undefined;
  const visited = new Set<number>();
  let current: ProcessEntry | undefined = entry;
  while (current && !visited.has(current.pid)) {
    const id = byCommand.get(current.pid) ?? byCommand.get(current.sessionId);
    if (id) return id;
    visited.add(current.pid);
    current = entries.get(current.parentPid);
  }
  return undefined;
}
