import type { Endpoint, EndpointSlice } from '@orch/types/discovery/v1';
import { describe, expect, it } from 'vitest';
import { packEndpoints } from './slice-packing.js';

const endpoint = (id: number, ready = true): Endpoint => ({
  addresses: [`10.0.0.${id}`],
  conditions: { ready },
  targetRef: { kind: 'Pod', name: `p${id}`, resourceVersion: String(id) },
});
const slice = (name: string, ids: readonly number[]): EndpointSlice => ({
  metadata: { name },
  addressType: 'IPv4',
  endpoints: ids.map((id) => endpoint(id)),
});
const range = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => from + index);
const endpoints = (ids: readonly number[]) => ids.map((id) => endpoint(id));
const options = { endpointCountMax: 10, isOutdated: () => false };

function pack(existing: EndpointSlice[], desired: Endpoint[], changes = {}) {
  const { creates, updates, deletes } = packEndpoints(existing, desired, {
    ...options,
    ...changes,
  });
  return {
    creates: creates.map((created) => created.length),
    updates: updates.map((one) => [one.slice.metadata?.name, one.endpoints.length]),
    deletes: deletes.map(({ metadata }) => metadata?.name),
  };
}

describe('packEndpoints', () => {
  it('fills new slices up to the limit', () => {
    expect(pack([], endpoints(range(0, 25)))).toEqual({
      creates: [10, 10, 5],
      updates: [],
      deletes: [],
    });
  });

  it('writes nothing if only versions of pods change', () => {
    const desired = [
      { ...endpoint(1), targetRef: { ...endpoint(1).targetRef, resourceVersion: '9' } },
    ];
    expect(pack([slice('a', [1])], desired)).toEqual({ creates: [], updates: [], deletes: [] });
  });

  it('updates the slice of an endpoint that becomes not ready', () => {
    const existing = [slice('a', [1, 2]), slice('b', [3])];
    expect(pack(existing, [endpoint(1), endpoint(2), endpoint(3, false)]).updates).toEqual([
      ['b', 1],
    ]);
  });

  it('fills slices that change anyway before it touches others', () => {
    const existing = [slice('a', range(0, 5)), slice('b', range(5, 10)), slice('c', [10])];
    const desired = endpoints([...range(0, 5), ...range(6, 10), 10, 20]);
    expect(pack(existing, desired)).toEqual({ creates: [], updates: [['b', 5]], deletes: [] });
  });

  it('adds endpoints to the fullest slice with room for all of them', () => {
    const existing = [slice('a', range(0, 4)), slice('b', range(4, 11)), slice('c', range(11, 20))];
    expect(pack(existing, endpoints(range(0, 23))).updates).toEqual([['b', 10]]);
  });

  it('creates a slice rather than spreading endpoints over several', () => {
    const existing = [slice('a', range(0, 8)), slice('b', range(8, 16))];
    expect(pack(existing, endpoints(range(0, 20)))).toEqual({
      creates: [4],
      updates: [],
      deletes: [],
    });
  });

  it('deletes emptied slices and writes outdated ones', () => {
    const existing = [slice('a', [1]), slice('b', [2])];
    const isOutdated = ({ metadata }: EndpointSlice) => metadata?.name === 'b';
    expect(pack(existing, endpoints([2]), { isOutdated })).toEqual({
      creates: [],
      updates: [['b', 1]],
      deletes: ['a'],
    });
  });

  it('removes an endpoint that is in two slices from the second', () => {
    expect(pack([slice('a', [1]), slice('b', [1, 2])], endpoints([1, 2])).updates).toEqual([
      ['b', 1],
    ]);
  });

  it('holds exactly the desired endpoints after 2,000 random changes, within the limit', () => {
    let state = 7;
    const random = (below: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    let slices: EndpointSlice[] = [];
    for (let step = 0; step < 2_000; step++) {
      const desired = range(0, 60).filter(() => random(3) > 0);
      const states = desired.map((id) => endpoint(id, random(5) > 0));
      const { creates, updates, deletes } = packEndpoints(slices, states, options);
      const written = new Map(updates.map((one) => [one.slice.metadata?.name, one.endpoints]));
      slices = slices
        .filter((one) => !deletes.includes(one))
        .map((one) => ({
          ...one,
          endpoints: [...(written.get(one.metadata?.name) ?? one.endpoints ?? [])],
        }));
      slices.push(
        ...creates.map((created, index) => ({
          ...slice(`s${step}-${index}`, []),
          endpoints: [...created],
        })),
      );
      const held = slices.flatMap((one) => one.endpoints ?? []);
      const sorted = (list: Endpoint[]) => list.map((one) => JSON.stringify(one)).sort();
      expect(sorted(held)).toEqual(sorted(states));
      expect(slices.every((one) => (one.endpoints ?? []).length <= 10)).toBe(true);
      expect(packEndpoints(slices, states, options)).toEqual({
        creates: [],
        updates: [],
        deletes: [],
      });
    }
  });
});
