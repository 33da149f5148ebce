import type { Endpoint, EndpointSlice } from '@orch/types/discovery/v1';
import { describe, expect, it } from 'vitest';
import { countEndpointChanges, countSlices } from './slice-counts.js';

const endpoint = (ip: string, ready = true, resourceVersion = '1'): Endpoint => ({
  addresses: [ip],
  conditions: { ready },
  targetRef: { kind: 'Pod', name: ip, resourceVersion },
});
const slice = (
  name: string | undefined,
  port: number,
  ...endpoints: Endpoint[]
): EndpointSlice => ({
  metadata: name === undefined ? { generateName: 'web-' } : { name },
  addressType: 'IPv4',
  ports: [{ port }],
  endpoints,
});
const none = { creates: [], updates: [], deletes: [] };

describe('countEndpointChanges', () => {
  it('counts added, updated and removed endpoints, not new versions', () => {
    const existing = [slice('a', 80, endpoint('a'), endpoint('b'), endpoint('c'))];
    const updated = slice('a', 80, endpoint('a', false), endpoint('c', true, '2'), endpoint('d'));
    expect(countEndpointChanges(existing, { ...none, updates: [updated] })).toEqual({
      addedCount: 1,
      updatedCount: 1,
      removedCount: 1,
    });
  });

  it('ignores unchanged slices and moves to another slice', () => {
    const [a, b] = [slice('a', 80, endpoint('a')), slice('b', 80, endpoint('b'))];
    const changes = {
      ...none,
      updates: [slice('b', 80, endpoint('a'), endpoint('b'))],
      deletes: [a],
    };
    expect(countEndpointChanges([a, b, slice('c', 80, endpoint('c'))], changes)).toEqual({
      addedCount: 0,
      updatedCount: 0,
      removedCount: 0,
    });
  });

  it('removes and adds an endpoint whose ports change', () => {
    const changes = { ...none, updates: [slice('a', 81, endpoint('a'))] };
    expect(countEndpointChanges([slice('a', 80, endpoint('a'))], changes)).toEqual({
      addedCount: 1,
      updatedCount: 0,
      removedCount: 1,
    });
  });
});

describe('countSlices', () => {
  it('counts what remains, and the slices that each set of ports needs', () => {
    const existing = [
      slice('a', 80, endpoint('a'), endpoint('b')),
      slice('b', 80, endpoint('c')),
      slice('c', 80, endpoint('x')),
      slice('d', 81),
    ];
    const changes = {
      creates: [slice(undefined, 80, endpoint('d'))],
      updates: [slice('b', 80, endpoint('e'))],
      deletes: [existing[2]!],
    };
    expect(countSlices(existing, changes, 2)).toEqual({
      endpointCount: 4,
      sliceCount: 4,
      neededSliceCount: 3,
    });
  });

  it('counts nothing for an owner without slices', () => {
    expect(countSlices([], none, 2)).toEqual({
      endpointCount: 0,
      sliceCount: 0,
      neededSliceCount: 0,
    });
  });
});
