/** What this machine is and has, as far as a node reports it. */
import { readFileSync, statfsSync } from 'node:fs';
import {
  arch,
  availableParallelism,
  freemem,
  networkInterfaces,
  platform,
  release,
  totalmem,
} from 'node:os';

export interface HostFacts {
  readonly cpuCores: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  /** In the words of the interface: `linux`, `amd64`. */
  readonly operatingSystem: string;
  readonly architecture: string;
}

export interface HostPressure {
  readonly memoryAvailableBytes: number;
  readonly diskAvailableShare: number;
  readonly inodesFreeShare: number;
  readonly pidsAvailable: number;
}

const architectures: Partial<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** `directory` is on the file system that pods write to. */
export function hostFacts(directory: string): HostFacts {
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

export function hostPressure(directory: string): HostPressure {
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

/** The first address by which others may reach this machine; the loopback one if there is none. */
export function hostAddress(): string {
  for (const addresses of Object.values(networkInterfaces())) {
    const found = addresses?.find(({ family, internal }) => family === 'IPv4' && !internal);
    if (found) return found.address;
  }
  return '127.0.0.1';
}

function firstLine(path: string): string {
  return text(path).split('\n')[0]!.trim();
}

/** Empty where the machine does not tell. */
function text(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EPERM') return '';
    throw error;
  }
}
