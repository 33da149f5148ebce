import { expect, it } from 'vitest';
import { parseThresholds, pressureOf } from './eviction-signals.js';
import type { MachineInfo } from './machine-info.js';

const machine = { memoryBytes: 1_000, ephemeralStorageBytes: 1_000 } as MachineInfo;
const well = {
  memoryAvailableBytes: 500,
  diskAvailableShare: 0.5,
  inodesFreeShare: 0.5,
  pidsAvailable: 1_000,
};

it('detects pressure by amounts and by percentages', () => {
  const thresholds = parseThresholds([
    'memory.available<100',
    'nodefs.available<10%',
    'pid.available<1k',
  ]);
  expect(pressureOf(thresholds, machine, well)).toEqual({ memory: false, disk: false, pid: false });
  const pressed = {
    ...well,
    memoryAvailableBytes: 99,
    diskAvailableShare: 0.09,
    pidsAvailable: 999,
  };
  expect(pressureOf(thresholds, machine, pressed)).toEqual({ memory: true, disk: true, pid: true });
});

it('rejects unknown signals and invalid amounts', () => {
  expect(() => parseThresholds(['swap.available<1'])).toThrow('is not an eviction threshold');
  expect(() => parseThresholds(['memory.available'])).toThrow('is not an eviction threshold');
  expect(() => parseThresholds(['memory.available<lots'])).toThrow();
});
