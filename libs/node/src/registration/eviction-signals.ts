/** The thresholds of `--eviction-hard` and the pressure conditions that they cause. Pure. */
import { quantityValue } from '../environment/quantity.js';
import type { AvailableResources, MachineInfo } from './machine-info.js';

const evictionSignals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'pid.available',
] as const;
export type EvictionSignal = (typeof evictionSignals)[number];

export interface Threshold {
  readonly signal: EvictionSignal;
  /** A share of the capacity, or an amount. */
  readonly kind: 'share' | 'amount';
  readonly value: number;
}

export interface Pressure {
  readonly memory: boolean;
  readonly disk: boolean;
  readonly pid: boolean;
}

/**
 * Parses entries such as `memory.available<100Mi` and `nodefs.available<10%`. Throws for an invalid
 * entry.
 */
export function parseThresholds(texts: readonly string[]): Threshold[] {
  return texts.map((text) => {
    const match = /^([a-zA-Z.]+)<(.+)$/.exec(text);
    const signal = evictionSignals.find((name) => name === match?.[1]);
    if (!match || !signal) {
      throw new Error(
        `"${text}" is not an eviction threshold such as memory.available<100Mi, with a signal of ${evictionSignals.join(', ')}`,
      );
    }
    const amount = match[2]!;
    if (amount.endsWith('%')) {
      return { signal, kind: 'share', value: Number(amount.slice(0, -1)) / 100 };
    }
    return { signal, kind: 'amount', value: quantityValue(amount) };
  });
}

/** Returns the kinds of pressure for which a threshold is exceeded. */
export function pressureOf(
  thresholds: readonly Threshold[],
  machine: MachineInfo,
  host: AvailableResources,
): Pressure {
  const diskCapacity = machine.ephemeralStorageBytes;
  const disk = { available: host.diskAvailableShare * diskCapacity, capacity: diskCapacity };
  const amounts: Record<EvictionSignal, { available: number; capacity: number }> = {
    'memory.available': {
      available: host.memoryAvailableBytes,
      capacity: machine.memoryBytes,
    },
    'nodefs.available': disk,
    // There are no images, so their file system is that of the pods.
    'imagefs.available': disk,
    'nodefs.inodesFree': { available: host.inodesFreeShare, capacity: 1 },
    'pid.available': { available: host.pidsAvailable, capacity: host.pidsAvailable },
  };
  const isMet = ({ signal, kind, value }: Threshold): boolean => {
    const { available, capacity } = amounts[signal];
    return available < (kind === 'share' ? value * capacity : value);
  };
  const anyMet = (...signals: EvictionSignal[]) =>
    thresholds.some((threshold) => signals.includes(threshold.signal) && isMet(threshold));
  return {
    memory: anyMet('memory.available'),
    disk: anyMet('nodefs.available', 'nodefs.inodesFree', 'imagefs.available'),
    pid: anyMet('pid.available'),
  };
}
