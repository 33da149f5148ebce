import { type ApiObject, definitions, type ResourceDefinition } from '@orch/api';
import { FeatureGates } from '@orch/component';
import { describe, expect, it } from 'vitest';
import type { DeleteOptions } from './delete-options.js';
import { planDeletion, propagationFinalizers, removedByUpdate } from './finalization.js';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const context = {
  now: '2026-01-01T00:00:00Z',
  user: { name: 'u', uid: '', groups: [], extra: {} },
  dryRun: false,
  features: new FeatureGates('apiserver'),
};

function kind(plural: string): ResourceDefinition {
  return definitions.find((definition) => definition.plural === plural)!;
}

function options(given: Partial<DeleteOptions> = {}): DeleteOptions {
  return {
    dryRun: false,
    gracePeriodSeconds: undefined,
    orphanDependents: undefined,
    propagationPolicy: undefined,
    preconditions: { uid: undefined, resourceVersion: undefined },
    ...given,
  };
}

function object(metadata: ApiObject['metadata'] = {}, more: object = {}): ApiObject {
  return { metadata: { name: 'x', ...metadata }, ...more };
}

function plan(plural: string, target: ApiObject, given: Partial<DeleteOptions> = {}) {
  return planDeletion(target, options(given), kind(plural), context, nowMs);
}

describe('deletion', () => {
  it('removes what nothing holds', () => {
    expect(plan('configmaps', object())).toEqual({ kind: 'remove' });
  });

  it('marks what finalizers hold, once', () => {
    const held = object({ finalizers: ['example.com/hold'], generation: 3 });
    expect(plan('configmaps', held)).toMatchObject({ kind: 'update', thenRemove: false });
    expect(held.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 0,
      generation: 4,
    });
    expect(plan('configmaps', held)).toEqual({ kind: 'none' });
  });

  it('adds and exchanges the finalizers of the propagation policy', () => {
    const add = (finalizers: string[], policy: DeleteOptions['propagationPolicy']) =>
      propagationFinalizers(finalizers, options({ propagationPolicy: policy }), 'background');
    expect(add([], 'Orphan')).toEqual(['orphan']);
    expect(add(['a/b', 'foregroundDeletion'], 'Orphan')).toEqual(['a/b', 'orphan']);
    expect(add(['orphan'], 'Background')).toEqual([]);
    expect(add([], 'Background')).toBeUndefined();
    expect(add(['orphan'], undefined)).toBeUndefined();
    expect(propagationFinalizers([], options({}), 'orphan')).toEqual(['orphan']);
    expect(propagationFinalizers([], options({}), 'unsupported')).toBeUndefined();
  });

  it('gives pods time, which may only get shorter', () => {
    const pod = object({}, { spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 } });
    expect(plan('pods', pod)).toMatchObject({ kind: 'update', thenRemove: false });
    expect(pod.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
    });
    expect(plan('pods', pod, { gracePeriodSeconds: 60 })).toEqual({ kind: 'none' });
    expect(plan('pods', pod, { gracePeriodSeconds: 5 })).toMatchObject({ thenRemove: false });
    expect(pod.metadata?.deletionTimestamp).toBe('2026-01-01T00:00:05Z');
    expect(plan('pods', pod, { gracePeriodSeconds: 0 })).toMatchObject({ thenRemove: true });
  });

  it('removes pods without a node immediately', () => {
    const pod = object({}, { spec: {} });
    expect(plan('pods', pod, { gracePeriodSeconds: 30 })).toMatchObject({ thenRemove: true });
  });

  it('holds namespaces by the finalizers in their spec', () => {
    const namespace = object({}, { spec: { finalizers: ['x/y'] }, status: { phase: 'Active' } });
    expect(plan('namespaces', namespace)).toMatchObject({ kind: 'update', thenRemove: false });
    expect(namespace).toMatchObject({ status: { phase: 'Terminating' } });
    expect(namespace.metadata?.deletionGracePeriodSeconds).toBeUndefined();
    const emptied = { ...namespace, spec: { finalizers: [] } };
    expect(removedByUpdate(emptied, namespace, kind('namespaces'))).toBe(true);
    expect(removedByUpdate(namespace, namespace, kind('namespaces'))).toBe(false);
  });
});
