/** The thresholds of `--eviction-hard`, and which conditions of the node they bring about. Pure. */
import { quantityValue } from '../environment/quantity.js';
import type { HostFacts, HostPressure } from './host-facts.js';

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
  /** A share of the whole, or an amount. */
  readonly kind: 'share' | 'amount';
  readonly value: number;
}

export interface Pressure {
  readonly memory: boolean;
  readonly disk: boolean;
  readonly pid: boolean;
}

/** Reads `memory.available<100Mi,nodefs.available<10%`. Throws for what it cannot read. */
export function parseThresholds(texts: readonly string[]): Threshold[] {
  return texts.map((text) => {
    const match = /^([a-zA-Z.]+)<(.+)$/.exec(text);
    const signal = evictionSignals.find((name) => name === match?.[1]);
    if (!match || !signal) throw new Error(`"${text}" is not an eviction threshold`);
    const amount = match[2]!;
    if (amount.endsWith('%')) {
      return { signal, kind: 'share', value: Number(amount.slice(0, -1)) / 100 };
    }
    return { signal, kind: 'amount', value: quantityValue(amount) };
  });
}

export function pressureOf(
  thresholds: readonly Threshold[],
  facts: HostFacts,
  host: HostPressure,
): Pressure {
  const isMet = ({ signal, kind, value }: Threshold): boolean => {
    const [available, whole] = {
      'memory.available': [host.memoryAvailableBytes, facts.memoryBytes],
      'nodefs.available': [
        host.diskAvailableShare * facts.ephemeralStorageBytes,
        facts.ephemeralStorageBytes,
      ],
      // Without images the file system of images is that of pods.
      'imagefs.available': [
        host.diskAvailableShare * facts.ephemeralStorageBytes,
        facts.ephemeralStorageBytes,
      ],
      'nodefs.inodesFree': [host.inodesFreeShare, 1],
      'pid.available': [host.pidsAvailable, host.pidsAvailable],
    }[signal] as [number, number];
    return available < (kind === 'share' ? value * whole : value);
  };
  const anyMet = (...signals: EvictionSignal[]) =>
    thresholds.some((threshold) => signals.includes(threshold.signal) && isMet(threshold));
  return {
    memory: anyMet('memory.available'),
    disk: anyMet('nodefs.available', 'nodefs.inodesFree', 'imagefs.available'),
    pid: anyMet('pid.available'),
  };
}
