import { resources } from '@orch/client';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { MemoryApiClient } from '../../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../../client/src/testing/memory-api-server.js';
import { quietLogger } from '../../../client/test/support.js';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { assignedRange } from './assigned-range.js';

describe('assignedRange', () => {
  let server: MemoryApiServer;
  let clock: TestClock;
  let stopping: AbortController;
  const start = () =>
    assignedRange({
      ...{ client: new MemoryApiClient(server), nodeName: 'n', clock, random: () => 0 },
      ...{ logger: quietLogger, signal: stopping.signal },
    });
  const seed = (...podCIDRs: string[]) =>
    server.seed(resources.nodes, { metadata: { name: 'n' }, spec: { podCIDRs } });

  beforeEach(() => {
    clock = new TestClock();
    server = new MemoryApiServer({ clock });
    stopping = new AbortController();
  });

  it('returns the IPv4 range of a node that has one', async () => {
    seed('fd00::/64', '10.0.3.0/24');
    expect(await start()).toBe('10.0.3.0/24');
  });

  it('registers the node without a range and waits for the assignment', async () => {
    const range = start();
    await vi.waitFor(() => expect(server.get(resources.nodes, 'n')).toBeDefined());
    expect(server.get(resources.nodes, 'n')?.spec?.podCIDRs ?? []).toEqual([]);
    server.change(resources.nodes, 'n', (node) => ({
      ...node,
      spec: { podCIDRs: ['10.0.4.0/24'] },
    }));
    await clock.advance(60_000);
    expect(await range).toBe('10.0.4.0/24');
  });

  it('ends when the agent stops', async () => {
    const range = start();
    const ended = expect(range).rejects.toThrow();
    stopping.abort(new Error('stopped'));
    await clock.advance(60_000);
    await ended;
  });
});
