import { describe, expect, it } from 'vitest';
import { bootstrapCluster, randomId } from './bootstrap.js';

const members = ['a', 'b', 'c'].map((name) => ({ name, peerUrl: `https://${name}:6480` }));

describe('bootstrapCluster', () => {
  it('derives the same cluster from any order of the members', () => {
    const one = bootstrapCluster('token', members, 'a');
    const other = bootstrapCluster('token', [...members].reverse(), 'c');
    expect(other.clusterId).toBe(one.clusterId);
    expect(other.configuration).toEqual(one.configuration);
    expect(one.self.name).toBe('a');
    expect(other.self.name).toBe('c');
    expect(new Set(one.configuration.voters.map(({ id }) => id)).size).toBe(3);
    expect(one.clusterId).toMatch(/^[0-9a-f]{16}$/);
    expect(one.self.id).toMatch(/^[0-9a-f]{16}$/);
  });

  it('keeps clusters apart by token, members and addresses', () => {
    const moved = members.map((member) =>
      member.name === 'b' ? { ...member, peerUrl: 'https://b:7000' } : member,
    );
    const ids = [
      bootstrapCluster('token', members, 'a'),
      bootstrapCluster('other', members, 'a'),
      bootstrapCluster('token', moved, 'a'),
      bootstrapCluster('token', members.slice(0, 2), 'a'),
    ].map(({ clusterId }) => clusterId);
    expect(new Set(ids).size).toBe(4);
  });

  it.each([
    ['nobody of that name', members, 'd', /member d is not among the initial members \(a, b, c\)/],
    ['a name twice', [...members, { name: 'a', peerUrl: 'https://x:1' }], 'a', /two .* named a/],
    [
      'an address twice',
      [...members, { name: 'd', peerUrl: 'https://a:6480' }],
      'a',
      /two .* have/,
    ],
    ['no name', [...members, { name: '', peerUrl: 'https://x:1' }], 'a', /has no name/],
  ])('refuses %s', (_what, given, name, message) => {
    expect(() => bootstrapCluster('token', given, name)).toThrow(
      expect.objectContaining({
        code: 'BadConfiguration',
        message: expect.stringMatching(message),
      }),
    );
  });
});

it('draws ids of 16 digits', () => {
  const low = randomId(() => 0);
  const high = randomId(() => 0.999_999_999);
  expect([low, high]).toEqual(['0000000000000000', 'ffffffffffffffff']);
});
