import type { PersistentVolumeClaim, Pod } from '@orch/types/core/v1';
import { expect, it } from 'vitest';
import { claimNames } from '../common/pod-claims.js';
import { isAwaited, protectedObject, releasedObject, usesClaim } from './uses.js';

const finalizer = 'orch.io/pvc-protection';
const pod = (nodeName: string | undefined): Pod =>
  ({
    metadata: { name: 'p' },
    spec: {
      nodeName,
      volumes: [
        { name: 'a', persistentVolumeClaim: { claimName: 'data' } },
        { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } },
        { name: 'c', emptyDir: {} },
      ],
    },
  }) as Pod;
const claim = (name: string): PersistentVolumeClaim => ({ metadata: { name } });

it('returns the claims of a pod, including its ephemeral ones', () => {
  expect(claimNames(pod('n'))).toEqual(['data', 'p-scratch']);
});

it.each([
  ['n', 'data', true],
  ['n', 'p-scratch', true],
  ['n', 'other', false],
  [undefined, 'data', false],
  ['', 'data', false],
])('a pod on node %j uses claim %s: %s', (nodeName, name, expected) => {
  expect(usesClaim(pod(nodeName), claim(name))).toBe(expected);
});

it('adds the finalizer once to an object that is not being deleted', () => {
  const free = { metadata: { name: 'a', finalizers: ['x/y'] } };
  const held = protectedObject(free, finalizer);
  expect(held?.metadata.finalizers).toEqual(['x/y', finalizer]);
  expect(protectedObject(held!, finalizer)).toBeUndefined();
  const going = { metadata: { name: 'a', deletionTimestamp: '2026-11-22T00:00:00Z' } };
  expect(protectedObject(going, finalizer)).toBeUndefined();
});

it('releases only an object that is being deleted and has the finalizer', () => {
  const metadata = { name: 'a', finalizers: [finalizer, 'x/y'] };
  expect(isAwaited({ metadata }, finalizer)).toBe(false);
  const going = { metadata: { ...metadata, deletionTimestamp: '2026-11-22T00:00:00Z' } };
  expect(isAwaited(going, finalizer)).toBe(true);
  expect(releasedObject(going, finalizer).metadata.finalizers).toEqual(['x/y']);
  expect(isAwaited(releasedObject(going, finalizer), finalizer)).toBe(false);
});
