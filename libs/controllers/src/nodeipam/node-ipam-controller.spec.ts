import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { nodeIpamController } from './node-ipam-controller.js';

describe('nodeIpamController', () => {
  let harness: ControllerHarness;
  const create = (...flags: string[]) => {
    harness = new ControllerHarness([nodeIpamController], {
      flags: ['--allocate-node-cidrs', ...flags],
    });
  };
  const seed = (name: string, podCIDRs?: string[]) =>
    harness.server.seed(resources.nodes, {
      metadata: { name },
      ...(podCIDRs && { spec: { podCIDR: podCIDRs[0], podCIDRs } }),
    });
  const ranges = (name: string) => harness.server.get(resources.nodes, name)?.spec?.podCIDRs;
  const advance = (seconds: number) => harness.advance(seconds * 1_000);

  beforeEach(() => create('--cluster-cidr=10.0.0.0/22'));
  afterEach(() => harness.stop());

  it('assigns free ranges and respects those of existing nodes', async () => {
    seed('z-old', ['10.0.0.0/24']);
    seed('a-new');
    await harness.start();
    expect(ranges('a-new')).toEqual(['10.0.1.0/24']);
    expect(harness.server.get(resources.nodes, 'a-new')?.spec?.podCIDR).toBe('10.0.1.0/24');
    expect(ranges('z-old')).toEqual(['10.0.0.0/24']);
  });

  it('assigns a range of each family and none that services use', async () => {
    create(
      '--cluster-cidr=10.0.0.0/16,fd00::/48',
      '--node-cidr-mask-size-ipv4=26',
      '--service-cluster-ip-range=10.0.0.0/24,fd00:0:0:2::/112',
    );
    for (const name of ['a', 'b', 'c']) seed(name);
    await harness.start();
    const assigned = ['a', 'b', 'c'].map(ranges);
    expect(assigned.map((pair) => pair?.[0]).sort()).toEqual([
      '10.0.1.0/26',
      '10.0.1.128/26',
      '10.0.1.64/26',
    ]);
    expect(assigned.map((pair) => pair?.[1]).sort()).toEqual([
      'fd00:0:0:1::/64',
      'fd00:0:0:3::/64',
      'fd00::/64',
    ]);
  });

  it('reports an exhausted range and assigns one that becomes free immediately', async () => {
    for (const index of [0, 1, 2, 3]) seed(`n${index}`, [`10.0.${index}.0/24`]);
    await harness.start();
    seed('waits');
    await harness.settle();
    expect(ranges('waits')).toBeUndefined();
    expect(harness.events()).toEqual([
      'CIDRNotAvailable: Node waits status is now: CIDRNotAvailable',
    ]);
    await harness.client.resource(resources.nodes).delete('n2');
    await harness.settle();
    expect(ranges('waits')).toEqual(['10.0.2.0/24']);
  });

  it('does not reuse a range while another node has it too', async () => {
    for (const name of ['one', 'two']) seed(name, ['10.0.0.0/23']);
    await harness.start();
    await harness.client.resource(resources.nodes).delete('one');
    seed('new');
    await harness.settle();
    expect(ranges('new')).toEqual(['10.0.2.0/24']);
  });

  it('retries a rejected assignment and keeps one whose outcome is unknown', async () => {
    await harness.start();
    harness.server.interceptNext('PATCH', resources.nodes, () => {
      throw new Error('the connection is closed');
    });
    seed('a');
    await harness.settle();
    expect(ranges('a')).toBeUndefined();
    seed('b');
    await harness.settle();
    expect(ranges('b')).toEqual(['10.0.1.0/24']);
    await advance(5);
    expect(ranges('a')).toEqual(['10.0.0.0/24']);
  });

  it('writes nothing for a node that already has ranges, not even after a day', async () => {
    seed('n', ['192.168.0.0/24']);
    await harness.start();
    harness.clock.jump(86_400_000);
    await advance(120);
    expect(harness.server.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it.each([
    [[], '--cluster-cidr is missing'],
    [['--cluster-cidr=10.0.0.0'], '10.0.0.0 is no CIDR'],
    [['--cluster-cidr=10.0.0.0/8,11.0.0.0/8'], 'two of different families'],
    [['--cluster-cidr=10.0.0.0/25'], 'must be from 25 to 32, got 24'],
    [['--cluster-cidr=fd00::/16'], 'must be from 16 to 32, got 64'],
    [['--cluster-cidr=10.0.0.0/8,fd00::/48', '--node-cidr-mask-size=24'], 'applies to one family'],
    [['--cluster-cidr=10.0.0.0/8', '--node-cidr-mask-size-ipv6=64'], 'requires a range of that'],
    [['--cluster-cidr=10.0.0.0/8', '--cidr-allocator-type=CloudAllocator'], 'need a cloud'],
  ])('rejects the flags %j', (flags, message) => {
    expect(() => create(...flags)).toThrow(message);
  });
});
