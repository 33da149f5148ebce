/** The usage of the whole machine, from `/proc` and the file system of the pods. */
import { readFileSync, statfsSync } from 'node:fs';
import { clockTicksPerSecond } from '../runtimes/process/proc.js';

export interface NodeMemory {
  readonly capacityBytes: number;
  /** Capacity without the working set. */
  readonly availableBytes: number;
  /** Everything except free memory: caches included. */
  readonly usageBytes: number;
  /** Memory that the kernel cannot reclaim without swapping. */
  readonly workingSetBytes: number;
  /** Memory of processes that no file backs. */
  readonly rssBytes: number;
}

export interface NodeFileSystem {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
  readonly inodesUsed: number;
}

export interface ProcessLimit {
  readonly processCount: number;
  readonly processCountMax: number;
}

/** Returns the CPU time of all processes and the kernel since the boot. */
export function nodeCpuNanoseconds(): number {
  return cpuNanoseconds(readFileSync('/proc/stat', 'utf8'));
}

export function nodeMemory(): NodeMemory {
  return memoryOf(readFileSync('/proc/meminfo', 'utf8'));
}

/** Parses `/proc/stat`. Waiting for input and output is idle time. */
export function cpuNanoseconds(text: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = text
    .split('\n', 1)[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const ticks = user + nice + system + irq + softIrq + steal;
  return ticks * (1e9 / clockTicksPerSecond);
}

/** Parses `/proc/meminfo`. */
export function memoryOf(text: string): NodeMemory {
  const bytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024;
  const capacityBytes = bytes('MemTotal');
  const availableBytes = bytes('MemAvailable') || bytes('MemFree');
  return {
    capacityBytes,
    availableBytes,
    usageBytes: capacityBytes - bytes('MemFree'),
    workingSetBytes: capacityBytes - availableBytes,
    rssBytes: bytes('AnonPages'),
  };
}

/** Returns the usage of the file system that contains `directory`. */
export function fileSystemOf(directory: string): NodeFileSystem {
  const { blocks, bfree, bavail, bsize, files, ffree } = statfsSync(directory);
  return {
    capacityBytes: blocks * bsize,
    availableBytes: bavail * bsize,
    usedBytes: (blocks - bfree) * bsize,
    inodes: files,
    inodesFree: ffree,
    inodesUsed: files - ffree,
  };
}

export function processLimit(): ProcessLimit {
  const processCountMax = Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8'));
  const processCount = Number(readFileSync('/proc/loadavg', 'utf8').split(/[ /]/)[4]);
  return { processCount, processCountMax };
}
