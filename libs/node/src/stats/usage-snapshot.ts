/** The usage of the node and its pods at one time. */
import type { ContainerId, PodIdentity } from '../runtimes/container-runtime.js';
import type { CpuUsage } from './cpu-counter.js';
import type { NodeMemory } from './node-readings.js';

export interface ContainerUsage {
  readonly id: ContainerId;
  readonly name: string;
  readonly image: string;
  readonly startedAtMs: number;
  readonly cpu: CpuUsage;
  readonly memoryBytes: number;
  readonly processCount: number;
}

export interface PodUsage {
  readonly pod: PodIdentity;
  readonly startedAtMs: number;
  /** Includes containers that have ended, so that the counter never decreases. */
  readonly cpu: CpuUsage;
  readonly memoryBytes: number;
  readonly processCount: number;
  /** The running ones, by name. */
  readonly containers: readonly ContainerUsage[];
}

export interface UsageSnapshot {
  /** Wall time of the measurement. */
  readonly atMs: number;
  readonly node: {
    readonly startedAtMs: number;
    readonly cpu: CpuUsage;
    readonly memory: NodeMemory;
  };
  /** By namespace and name. */
  readonly pods: readonly PodUsage[];
}
