/** The capacity, the identity and the available resources of this machine. */
import { readFileSync, statfsSync } from 'node:fs';
import { arch, availableParallelism, freemem, platform, release, totalmem } from 'node:os';
import { errorCode } from '@orch/component';

export interface MachineInfo {
  readonly cpuCores: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  /** As in upstream labels: `linux`, `amd64`. */
  readonly operatingSystem: string;
  readonly architecture: string;
}

export interface AvailableResources {
  readonly memoryAvailableBytes: number;
  readonly diskAvailableShare: number;
  readonly inodesFreeShare: number;
  readonly pidsAvailable: number;
}

const architectures: Partial<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** Reads the capacity and the identity. `directory` is on the file system of the pods. */
export function machineInfo(directory: string): MachineInfo {
  const disk = statfsSync(directory);
  return {
    cpuCores: availableParallelism(),
    memoryBytes: totalmem(),
    ephemeralStorageBytes: disk.blocks * disk.bsize,
    machineId: firstLine('/etc/machine-id'),
    systemUuid: firstLine('/sys/class/dmi/id/product_uuid') || firstLine('/etc/machine-id'),
    bootId: firstLine('/proc/sys/kernel/random/boot_id'),
    kernelVersion: release(),
    osImage: /^PRETTY_NAME="?([^"\n]*)/m.exec(text('/etc/os-release'))?.[1] ?? 'Linux',
    operatingSystem: platform(),
    architecture: architectures[arch()] ?? arch(),
  };
}

export function availableResources(directory: string): AvailableResources {
  const disk = statfsSync(directory);
  const available = /^MemAvailable:\s+(\d+) kB$/m.exec(text('/proc/meminfo'))?.[1];
  const pidMax = Number(firstLine('/proc/sys/kernel/pid_max')) || 32_768;
  const processCount = Number(firstLine('/proc/loadavg').split(/[ /]/)[4]) || 0;
  return {
    memoryAvailableBytes: available === undefined ? freemem() : Number(available) * 1024,
    diskAvailableShare: disk.blocks === 0 ? 1 : disk.bavail / disk.blocks,
    inodesFreeShare: disk.files === 0 ? 1 : disk.ffree / disk.files,
    pidsAvailable: pidMax - processCount,
  };
}

function firstLine(path: string): string {
  return text(path).split('\n')[0]!.trim();
}

/** Returns the content of a file; empty if it is missing or not readable. */
function text(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EPERM') return '';
    throw error;
  }
}
