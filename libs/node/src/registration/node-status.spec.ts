import { codecFor } from '@orch/apimachinery';
import type { Node } from '@orch/types/core/v1';
import { expect, it } from 'vitest';
import { hasChanged, nodeStatus } from './node-status.js';

const gibibyte = 2 ** 30;
const input = (memoryBytes: number, cpuCores = 32) => ({
  nodeName: 'n',
  hostname: 'n',
  addresses: ['10.0.0.1'],
  port: 0,
  podCountMax: 110,
  reserved: { cpuCores: 0, memoryBytes: 0 },
  machine: {
    cpuCores,
    memoryBytes,
    ephemeralStorageBytes: 512 * gibibyte,
    machineId: 'm',
    systemUuid: 's',
    bootId: 'b',
    kernelVersion: '6.1',
    osImage: 'Linux',
    operatingSystem: 'linux',
    architecture: 'amd64',
  },
  runtime: { name: 'process', version: '1', localPodAddresses: false },
  runtimeStatus: { runtimeReady: true, networkReady: true },
  pressure: { memory: false, disk: false, pid: false },
  nowMs: 0,
});

/** The node as a server returns it. */
function stored(status: Node['status']): Node {
  return codecFor('core/v1.Node').fromJson({ metadata: { name: 'n' }, status }) as Node;
}

it.each([
  ['whole gibibytes', input(128 * gibibyte)],
  ['whole kibibytes', input(24_689_320 * 1024)],
  ['a part of a core', input(gibibyte, 1.5)],
  [
    'nothing that can be allocated',
    { ...input(gibibyte), reserved: { cpuCores: 64, memoryBytes: 2 * gibibyte } },
  ],
])('takes a stored status with %s for unchanged', (_, facts) => {
  const node = stored(nodeStatus(facts, undefined));
  expect(hasChanged(node, nodeStatus({ ...facts, nowMs: 60_000 }, node))).toBe(false);
});

it('notices other amounts', () => {
  const node = stored(nodeStatus(input(128 * gibibyte), undefined));
  expect(hasChanged(node, nodeStatus(input(64 * gibibyte), node))).toBe(true);
});
