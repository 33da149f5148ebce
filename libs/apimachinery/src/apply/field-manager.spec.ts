import { dialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import type { ManagedFieldsEntry } from '../generated/meta/v1.js';
import { updateManagerCountMax } from '../limits.js';
import type { JsonObject } from '../patch/json-values.js';
import { conflictStatus } from './conflict.js';
import { applyConfiguration, managedFieldsAfterUpdate } from './field-manager.js';
import { fieldSetOf } from './field-set.js';
import { managerName } from './managers.js';
import { ApplyConflictError, type VersionedType } from './ownership.js';
import { shapeOf } from './shape.js';

/** Config maps in a version `v1` and in a version `v2` that names `data` `binaryData`. */
const type: VersionedType = {
  shape: (version) =>
    version === 'v1' || version === 'v2' ? shapeOf('core/v1.ConfigMap') : undefined,
  convert(object, from, to) {
    if (from === to) return structuredClone(object);
    const { data, binaryData, ...rest } = structuredClone(object);
    return {
      ...rest,
      ...(data !== undefined && { binaryData: data }),
      ...(binaryData !== undefined && { data: binaryData }),
    };
  },
  ignored: () => undefined,
  empty: () => ({ metadata: {} }),
};

const identity = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '5', generation: 1 };

function entry(
  manager: string,
  operation: 'Apply' | 'Update',
  fieldsV1: object,
  time = 'T0',
  apiVersion = 'v1',
): ManagedFieldsEntry {
  return { manager, operation, apiVersion, time, fieldsType: 'FieldsV1', fieldsV1 };
}

function object(data: Record<string, string>, managedFields?: ManagedFieldsEntry[]): JsonObject {
  const metadata = { ...identity, ...(managedFields && { managedFields }) };
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata, data } as unknown as JsonObject;
}

const config = (data: Record<string, string>) =>
  ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data }) as JsonObject;

function update(live: JsonObject | undefined, next: JsonObject, manager = 'me', apiVersion = 'v1') {
  return managedFieldsAfterUpdate({
    type,
    apiVersion,
    manager,
    now: 'T1',
    live,
    object: next,
    acceptsSentFields: true,
  });
}

function apply(
  live: JsonObject,
  data: Record<string, string>,
  more: { manager?: string; force?: boolean; apiVersion?: string } = {},
) {
  const { manager = 'me', force = false, apiVersion = 'v1' } = more;
  return applyConfiguration({
    type,
    apiVersion,
    manager,
    now: 'T1',
    live,
    config: config(data),
    force,
  });
}

const x = { 'f:data': { 'f:x': {} } };
const y = { 'f:data': { 'f:y': {} } };

describe('updates', () => {
  it('give the creator all fields except identifying metadata', () => {
    expect(update(undefined, object({ x: '1' }))).toEqual([
      entry('me', 'Update', { 'f:data': { '.': {}, 'f:x': {} } }, 'T1'),
    ]);
  });

  it('move the changed fields and leave the others', () => {
    const live = object({ x: '1', y: '1' }, [
      entry('first', 'Update', { 'f:data': { '.': {}, 'f:x': {}, 'f:y': {} } }),
    ]);
    expect(update(live, object({ x: '2', y: '1' }))).toEqual([
      entry('first', 'Update', { 'f:data': { '.': {}, 'f:y': {} } }),
      entry('me', 'Update', x, 'T1'),
    ]);
  });

  it('keep the time while the set is unchanged', () => {
    const live = object({ x: '1' }, [entry('me', 'Update', x)]);
    expect(update(live, object({ x: '2' }))).toEqual([entry('me', 'Update', x)]);
  });

  it('remove deleted fields from every manager', () => {
    const live = object({ x: '1', y: '1' }, [entry('a', 'Apply', x), entry('b', 'Update', y)]);
    expect(update(live, object({ y: '1' }))).toEqual([entry('b', 'Update', y)]);
  });

  it('do not track objects without managed fields', () => {
    expect(update(object({ x: '1' }), object({ x: '2' }))).toBeUndefined();
  });

  it('reset when the client sends a blank entry', () => {
    const live = object({ x: '1' }, [entry('a', 'Apply', x)]);
    expect(update(live, object({ x: '1' }, [{}]))).toBeUndefined();
    expect(update(live, object({ x: '1' }, []))).toEqual([entry('a', 'Apply', x)]);
  });

  it.each<ManagedFieldsEntry>([
    { manager: 'm', operation: 'Sideways', apiVersion: 'v1', fieldsType: 'FieldsV1' },
    { manager: 'm', operation: 'Apply', fieldsType: 'FieldsV1' },
    { manager: 'm', operation: 'Apply', apiVersion: 'v1' },
    { manager: 'm', operation: 'Apply', apiVersion: 'v1', fieldsType: 'Nope' },
    entry('m', 'Apply', { data: {} }),
  ])('use the stored entries when %j is sent', (sent) => {
    const live = object({ x: '1' }, [entry('a', 'Apply', x)]);
    expect(update(live, object({ x: '1' }, [sent]))).toEqual([entry('a', 'Apply', x)]);
  });

  it('accept entries from the client in canonical form', () => {
    const live = object({ x: '1' }, [entry('a', 'Apply', x)]);
    const sent = entry('b', 'Apply', { 'f:data': { '.': {}, 'f:x': { '.': {} } } });
    const after = update(live, object({ x: '1' }, [sent]));
    expect(after).toEqual([entry('b', 'Apply', { 'f:data': { '.': {}, 'f:x': {} } })]);
  });

  it('ignore entries in subresource writes', () => {
    const live = object({ x: '1' }, [entry('a', 'Apply', x)]);
    const sent = object({ x: '1' }, [entry('b', 'Apply', x)]);
    const common = { type, apiVersion: 'v1', manager: 'me', now: 'T1', live };
    const after = managedFieldsAfterUpdate({ ...common, object: sent, acceptsSentFields: false });
    expect(after).toEqual([entry('a', 'Apply', x)]);
  });

  it('do not own reset fields', () => {
    const live = object({ x: '1', y: '1' }, [entry('a', 'Update', x), entry('b', 'Update', y)]);
    const after = managedFieldsAfterUpdate({
      type: { ...type, ignored: () => fieldSetOf('data.x') },
      apiVersion: 'v1',
      manager: 'me',
      now: 'T1',
      live,
      object: object({ x: '2', y: '2' }),
      acceptsSentFields: true,
    });
    expect(after).toEqual([entry('a', 'Update', x), entry('me', 'Update', y, 'T1')]);
  });

  it('merge the oldest managers of each version beyond the limit', () => {
    const names = Array.from({ length: updateManagerCountMax }, (_, index) => `m${index}`);
    const data = Object.fromEntries(names.map((name) => [name, '1']));
    const managers = names.map((name, index) =>
      entry(name, 'Update', { 'f:data': { [`f:${name}`]: {} } }, `T0${index}`),
    );
    const after = update(object(data, managers), object({ ...data, x: '1' }));
    expect(after).toHaveLength(updateManagerCountMax);
    expect(after?.[0]).toEqual(
      entry('ancient-changes', 'Update', { 'f:data': { 'f:m0': {}, 'f:m1': {} } }, 'T01'),
    );
  });

  it('merge into the existing bucket beyond the limit', () => {
    const names = ['m0', 'ancient-changes', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9'];
    const data = Object.fromEntries(names.map((name) => [name, '1']));
    const managers = names.map((name, index) =>
      entry(name, 'Update', { 'f:data': { [`f:${name}`]: {} } }, `T0${index}`),
    );
    const after = update(object(data, managers), object({ ...data, x: '1' }));
    expect(after).toHaveLength(updateManagerCountMax);
    expect(after?.[0]).toEqual(
      entry(
        'ancient-changes',
        'Update',
        { 'f:data': { 'f:ancient-changes': {}, 'f:m0': {} } },
        'T01',
      ),
    );
  });

  it('leave no managed fields on objects with duplicate list keys', () => {
    const twice = { metadata: {}, spec: { containers: [{ name: 'a' }, { name: 'a' }] } };
    const pods = { ...type, shape: () => shapeOf('core/v1.Pod') };
    const after = managedFieldsAfterUpdate({
      type: { ...pods, empty: () => ({ metadata: {}, spec: {} }) },
      apiVersion: 'v1',
      manager: 'me',
      now: 'T1',
      live: undefined,
      object: twice,
      acceptsSentFields: true,
    });
    expect(after).toBeUndefined();
  });
});

describe('managers that wrote in another version', () => {
  it('lose fields that change in this version', () => {
    const old = entry('a', 'Update', { 'f:binaryData': { 'f:x': {}, 'f:y': {} } }, 'T0', 'v2');
    const live = object({ x: '1', y: '1' }, [old]);
    expect(update(live, object({ x: '2', y: '1' }))).toEqual([
      entry('a', 'Update', { 'f:binaryData': { 'f:y': {} } }, 'T0', 'v2'),
      entry('me', 'Update', x, 'T1'),
    ]);
  });

  it('conflict across versions, and remove their own fields', () => {
    const own = entry('me', 'Apply', { 'f:binaryData': { 'f:x': {}, 'f:y': {} } }, 'T0', 'v2');
    const live = object({ x: '1', y: '1' }, [own]);
    const { object: after, managedFields } = apply(live, { x: '1' });
    expect(after.data).toEqual({ x: '1' });
    expect(managedFields).toEqual([entry('me', 'Apply', x, 'T1')]);
    expect(() => apply(live, { x: '2' }, { manager: 'other' })).toThrow(ApplyConflictError);
  });

  it('are dropped when the version is no longer served', () => {
    const gone = entry('a', 'Update', x, 'T0', 'v0');
    expect(update(object({ x: '1' }, [gone]), object({ x: '2' }))).toEqual([
      entry('me', 'Update', x, 'T1'),
    ]);
  });
});

describe('applying', () => {
  it('adds a first manager to an object without any', () => {
    expect(() => apply(object({ x: '1' }), { x: '2' })).toThrow(ApplyConflictError);
    expect(apply(object({ x: '1' }), { y: '1' }).managedFields).toEqual([
      entry('me', 'Apply', y, 'T1'),
      entry('before-first-apply', 'Update', { 'f:data': { '.': {}, 'f:x': {} } }, 'T1'),
    ]);
  });

  it('is idempotent, including the time', () => {
    const live = object({ x: '1' }, [entry('me', 'Apply', x)]);
    const { object: after, managedFields } = apply(live, { x: '1' });
    expect(managedFields).toEqual([entry('me', 'Apply', x)]);
    expect(after).toEqual(object({ x: '1' }));
  });

  it('removes fields that left the configuration, unless they are shared', () => {
    const both = { 'f:data': { 'f:x': {}, 'f:y': {} } };
    const alone = object({ x: '1', y: '1' }, [entry('me', 'Apply', both)]);
    expect(apply(alone, { x: '1' }).object.data).toEqual({ x: '1' });
    const shared = object({ x: '1', y: '1' }, [
      entry('me', 'Apply', both),
      entry('you', 'Apply', y),
    ]);
    const { object: after, managedFields } = apply(shared, { x: '1' });
    expect(after.data).toEqual({ x: '1', y: '1' });
    expect(managedFields).toEqual([entry('you', 'Apply', y), entry('me', 'Apply', x, 'T1')]);
  });

  it('by force keeps the ownership of other fields', () => {
    const live = object({ x: '1', y: '1' }, [
      entry('a', 'Apply', { 'f:data': { 'f:x': {}, 'f:y': {} } }),
      entry('b', 'Update', x),
    ]);
    expect(apply(live, { x: '2' }, { force: true }).managedFields).toEqual([
      entry('a', 'Apply', y),
      entry('me', 'Apply', x, 'T1'),
    ]);
  });

  it('reports every conflict with its manager', () => {
    const live = object({ x: '1', y: '1', z: '1' }, [
      entry('b', 'Update', { 'f:data': { 'f:z': {} } }),
      entry('a', 'Apply', { 'f:data': { 'f:x': {}, 'f:y': {} } }),
    ]);
    const failure = caught(() => apply(live, { x: '2', y: '2', z: '2' }));
    expect(conflictStatus(failure.conflicts).message).toBe(
      'Apply failed with 3 conflicts: conflicts with "a":\n- .data.x\n- .data.y\nconflicts with "b" using v1:\n- .data.z',
    );
  });
});

function caught(action: () => unknown): ApplyConflictError {
  try {
    action();
  } catch (error) {
    if (error instanceof ApplyConflictError) return error;
    throw error;
  }
  throw new Error('there was no conflict');
}

describe('objects of client-side apply', () => {
  const key = dialect().key('last-applied-configuration', 'kubectl');
  const last = config({ x: '1', y: '1' });
  const clientSide = { manager: 'kubectl-client-side-apply', operation: 'Update' as const };

  function live(data: Record<string, string>): JsonObject {
    const fields = { 'f:data': { '.': {}, 'f:x': {}, 'f:y': {} } };
    const base = object(data, [{ ...entry('', 'Update', fields), ...clientSide }]);
    const metadata = base.metadata as JsonObject;
    return { ...base, metadata: { ...metadata, annotations: { [key]: JSON.stringify(last) } } };
  }

  it('are taken over without conflict, and the annotation is updated', () => {
    const { object: after, managedFields } = apply(
      live({ x: '1', y: '1' }),
      { x: '2', y: '1' },
      { manager: 'kubectl' },
    );
    expect(after.data).toEqual({ x: '2', y: '1' });
    const { annotations } = after.metadata as { annotations: Record<string, string> };
    expect(annotations[key]).toBe(
      '{"apiVersion":"v1","data":{"x":"2","y":"1"},"kind":"ConfigMap","metadata":{"name":"a"}}\n',
    );
    expect(managedFields?.map(({ manager, fieldsV1 }) => [manager, fieldsV1])).toEqual([
      ['kubectl', { 'f:data': { 'f:x': {}, 'f:y': {} } }],
      ['kubectl-client-side-apply', { 'f:data': { '.': {}, 'f:y': {} } }],
    ]);
  });

  it('conflict if the applied value has changed', () => {
    const changed = live({ x: 'changed', y: '1' });
    const failure = caught(() => apply(changed, { x: '2', y: '2' }, { manager: 'kubectl' }));
    expect(failure.conflicts.map(({ fields }) => fields)).toEqual([x]);
  });

  it('conflict for every other manager', () => {
    expect(() => apply(live({ x: '1', y: '1' }), { x: '2' })).toThrow(ApplyConflictError);
  });
});

describe('the name of a manager', () => {
  it.each([
    ['given', 'agent/1', 'given'],
    ['', 'agent/1.2 (linux)', 'agent'],
    ['', 'Some Agent/1.2', 'Some Agent'],
    ['', 'bad\u0000\u0007agent', 'badagent'],
    ['', `${'\u00fc'.repeat(100)}/1`, '\u00fc'.repeat(64)],
    ['', '/1', 'unknown'],
    ['', undefined, 'unknown'],
  ])('%j of %j is %j', (given, agent, name) => {
    expect(managerName(given, agent)).toBe(name);
  });
});
