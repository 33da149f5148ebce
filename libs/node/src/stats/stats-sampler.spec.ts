import { createLogger } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import type {
  ContainerId,
  ContainerStats,
  ContainerStatus,
  PodIdentity,
  SandboxStatus,
} from '../runtimes/container-runtime.js';
import { StatsSampler } from './stats-sampler.js';

const second = 1e9;
const logger = createLogger({ component: 'test', format: 'text', level: 'fatal' });
const pod: PodIdentity = { uid: 'u1', namespace: 'default', name: 'web' };

/** A runtime with one pod, whose containers the test sets. */
function setUp() {
  const clock = new TestClock();
  const startedAtMs = clock.nowMs();
  const containers = new Map<string, { cpuNanoseconds: number; memoryBytes: number }>();
  let hasSandbox = true;
  const runtime = {
    listSandboxes: async () =>
      hasSandbox ? [{ pod, createdAtMs: startedAtMs } as SandboxStatus] : [],
    listContainers: async () =>
      [...containers.keys()].map(
        (id) => ({ id, pod, name: id, image: 'i', startedAtMs }) as unknown as ContainerStatus,
      ),
    listContainerStats: async () =>
      [...containers].map(
        ([id, usage]): ContainerStats => ({
          id: id as ContainerId,
          pod,
          name: id,
          atMs: clock.nowMs(),
          processCount: 1,
          ...usage,
        }),
      ),
  };
  const sampler = new StatsSampler({ runtime, clock, logger });
  const sampleAfter = async (ms: number) => {
    await clock.advance(ms);
    await sampler.sample();
    return sampler.snapshot?.pods[0];
  };
  const removePod = () => {
    containers.clear();
    hasSandbox = false;
  };
  return { sampler, containers, sampleAfter, removePod };
}

describe('StatsSampler', () => {
  it('measures each container and sums them for the pod', async () => {
    const { containers, sampleAfter } = setUp();
    containers.set('b', { cpuNanoseconds: 0, memoryBytes: 300 });
    containers.set('a', { cpuNanoseconds: 0, memoryBytes: 100 });
    await sampleAfter(0);
    containers.set('a', { cpuNanoseconds: 5 * second, memoryBytes: 200 });
    containers.set('b', { cpuNanoseconds: 2 * second, memoryBytes: 300 });
    const usage = await sampleAfter(10_000);
    expect(usage).toMatchObject({
      pod,
      cpu: { nanoCores: 0.7 * second, coreNanoseconds: 7 * second },
      memoryBytes: 500,
      processCount: 2,
      containers: [
        { name: 'a', cpu: { nanoCores: 0.5 * second }, memoryBytes: 200 },
        { name: 'b', cpu: { nanoCores: 0.2 * second }, memoryBytes: 300 },
      ],
    });
  });

  it('counts the CPU time of ended containers for their pod only', async () => {
    const { containers, sampleAfter } = setUp();
    containers.set('init', { cpuNanoseconds: 4 * second, memoryBytes: 100 });
    await sampleAfter(10_000);
    containers.delete('init');
    containers.set('main', { cpuNanoseconds: second, memoryBytes: 50 });
    const usage = await sampleAfter(10_000);
    expect(usage?.cpu.coreNanoseconds).toBe(5 * second);
    expect(usage?.memoryBytes).toBe(50);
    expect(usage?.containers.map(({ name }) => name)).toEqual(['main']);
  });

  it('forgets a removed pod, so that one with its uid begins again', async () => {
    const { containers, sampleAfter, removePod } = setUp();
    containers.set('main', { cpuNanoseconds: 4 * second, memoryBytes: 100 });
    await sampleAfter(10_000);
    removePod();
    expect(await sampleAfter(10_000)).toBeUndefined();
    containers.set('main', { cpuNanoseconds: second, memoryBytes: 100 });
    expect((await sampleAfter(10_000))?.cpu.coreNanoseconds).toBe(second);
  });

  it('measures the node', async () => {
    const { sampler, sampleAfter } = setUp();
    await sampleAfter(0);
    const { cpu, memory } = sampler.snapshot!.node;
    expect(cpu.coreNanoseconds).toBeGreaterThan(0);
    expect(memory.workingSetBytes).toBeLessThan(memory.capacityBytes);
    expect(memory.availableBytes + memory.workingSetBytes).toBe(memory.capacityBytes);
  });
});
