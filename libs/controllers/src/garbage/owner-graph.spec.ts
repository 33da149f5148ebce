import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ObservedObject } from '../common/resource-monitor.js';
import { OwnerGraph } from './owner-graph.js';

const resource = {
  group: 'core',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
  verbs: [],
  singularName: 'thing',
  shortNames: [],
  categories: [],
  preferred: true,
};

const object = (uid: string, owners: string[] = [], more: Partial<ObservedObject> = {}) => ({
  uid,
  resource,
  namespace: 'n',
  name: uid,
  owners: owners.map((owner) => ({
    apiVersion: 'v1',
    kind: 'Thing',
    name: owner,
    uid: owner,
    blockOwnerDeletion: true,
  })),
  isBeingDeleted: false,
  finalizers: [],
  ...more,
});
const waiting = { isBeingDeleted: true, finalizers: ['foregroundDeletion'] };
const checks = (effects: { check: Iterable<string> }) => [...effects.check].sort();

describe('OwnerGraph', () => {
  it('checks nothing while all owners exist', () => {
    const graph = new OwnerGraph();
    graph.observe(object('a'));
    expect(checks(graph.observe(object('b', ['a'])))).toEqual([]);
    expect(graph.dependentsOf('a').map((one) => one.uid)).toEqual(['b']);
  });

  it('reports and checks an object with an owner in another namespace once, in any order', () => {
    const child = object('b', ['a'], { namespace: 'other' });
    const report = [{ dependent: child, reference: child.owners[0] }];
    const graph = new OwnerGraph();
    graph.observe(object('a'));
    expect(graph.observe(child)).toMatchObject({ foreign: report });
    expect(checks(graph.observe(child))).toEqual(['b']);
    expect(graph.observe(child).foreign).toEqual([]);
    graph.remove('a');
    expect(graph.observe(object('a')).foreign).toEqual(report);
    const shared = { resource: { ...resource, namespaced: false }, namespace: '' };
    expect(graph.observe(object('c', ['d'])).foreign).toEqual([]);
    expect(graph.observe(object('d', [], shared)).foreign).toEqual([]);
    expect(graph.observe(object('e', ['a'], shared)).foreign).toHaveLength(1);
  });

  it('checks an object with an owner that it has not observed, in any order', () => {
    const graph = new OwnerGraph();
    expect(checks(graph.observe(object('b', ['a'])))).toEqual(['b']);
    graph.observe(object('a'));
    expect(checks(graph.remove('a'))).toEqual(['b']);
  });

  it('checks the dependents of an owner that starts to wait, and the owner when one is removed', () => {
    const graph = new OwnerGraph();
    graph.observe(object('a'));
    graph.observe(object('b', ['a']));
    expect(checks(graph.observe(object('a', [], waiting)))).toEqual(['a', 'b']);
    expect(graph.blockingDependents('a')).toHaveLength(1);
    expect(checks(graph.remove('b'))).toEqual(['a']);
    expect(graph.blockingDependents('a')).toHaveLength(0);
  });

  it('checks a waiting owner when a dependent leaves it or no longer blocks it', () => {
    const graph = new OwnerGraph();
    graph.observe(object('a', [], waiting));
    graph.observe(object('b', ['a']));
    expect(checks(graph.observe(object('b')))).toEqual(['a']);
  });

  it('gives dependents free once, when orphaning starts', () => {
    const graph = new OwnerGraph();
    const orphaning = object('a', [], { isBeingDeleted: true, finalizers: ['orphan'] });
    expect([...graph.observe(orphaning).orphan]).toEqual(['a']);
    expect([...graph.observe(orphaning).orphan]).toEqual([]);
  });

  it('has the same dependents as a scan of all objects', () => {
    const change = fc.record({
      uid: fc.constantFrom('a', 'b', 'c', 'd'),
      owners: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 2 }),
      isRemoval: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const graph = new OwnerGraph();
        const all = new Map<string, string[]>();
        for (const { uid, owners, isRemoval } of changes) {
          if (isRemoval) graph.remove(uid);
          else graph.observe(object(uid, owners));
          if (isRemoval) all.delete(uid);
          else all.set(uid, owners);
          for (const owner of ['a', 'b', 'c', 'd']) {
            const expected = [...all].filter(([, own]) => own.includes(owner)).map(([one]) => one);
            const known = graph.dependentsOf(owner).map((one) => one.uid);
            expect(known.sort()).toEqual(expected.sort());
          }
        }
      }),
    );
  });
});
