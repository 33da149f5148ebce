import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ManagedFieldsEntry } from '../generated/meta/v1.js';
import { deepEqual, type JsonObject } from '../patch/json-values.js';
import { compareObjects } from './compare.js';
import { applyConfiguration, managedFieldsAfterUpdate } from './field-manager.js';
import {
  difference,
  type FieldSet,
  isEmptySet,
  leavesOf,
  noFields,
  pathsOf,
  union,
} from './field-set.js';
import { fieldsOf } from './fields-of.js';
import { ApplyConflictError } from './ownership.js';
import { withNamedFields } from './remove.js';
import { arbitraryParts, partsShape, partsType } from './testing/parts.js';

interface World {
  object: JsonObject;
  managedFields: ManagedFieldsEntry[];
}

function stored(world: World): JsonObject {
  const { managedFields } = world;
  return { ...world.object, metadata: { managedFields } } as unknown as JsonObject;
}

/** Only adds the metadata that carries the managed fields. */
const withMetadata = { ...partsType, shape: () => shape };
const shape = {
  kind: 'map' as const,
  isAtomic: false,
  present: [],
  fields: new Map([
    ...partsShape.fields,
    [
      'metadata',
      {
        element: 'f:metadata',
        shape: { kind: 'map' as const, isAtomic: false, present: [], fields: new Map() },
      },
    ],
  ]),
};

type Step =
  | { readonly do: 'update'; readonly manager: string; readonly object: JsonObject }
  | {
      readonly do: 'apply';
      readonly manager: string;
      readonly object: JsonObject;
      readonly force: boolean;
    };

const manager = fc.constantFrom('one', 'two', 'three');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('update' as const), manager, object: arbitraryParts }),
  fc.record({
    do: fc.constant('apply' as const),
    manager,
    object: arbitraryParts,
    force: fc.boolean(),
  }),
);

function start(object: JsonObject): World {
  const created = managedFieldsAfterUpdate({
    type: withMetadata,
    apiVersion: 'v1',
    manager: 'creator',
    now: 'T0',
    live: undefined,
    object: { ...object, metadata: {} },
    acceptsSentFields: true,
  });
  return { object, managedFields: created ?? [] };
}

/** Undefined on a conflict. */
function run(world: World, step: Step): World | undefined {
  const common = { type: withMetadata, apiVersion: 'v1', manager: step.manager, now: 'T1' };
  if (step.do === 'update') {
    const entries = managedFieldsAfterUpdate({
      ...common,
      live: stored(world),
      object: { ...step.object, metadata: {} },
      acceptsSentFields: true,
    });
    return { object: step.object, managedFields: entries ?? [] };
  }
  try {
    const applied = applyConfiguration({
      ...common,
      live: stored(world),
      config: step.object,
      force: step.force,
    });
    const { metadata: _, ...object } = applied.object;
    return { object: withoutNulls(object), managedFields: applied.managedFields ?? [] };
  } catch (error) {
    if (error instanceof ApplyConflictError) return undefined;
    throw error;
  }
}

/** Removes nulls, as decoding does. */
function withoutNulls(object: JsonObject): JsonObject {
  return JSON.parse(
    JSON.stringify(object, (_, value: unknown) => (value === null ? undefined : value)),
  ) as JsonObject;
}

function ownedBy(world: World, accept: (entry: ManagedFieldsEntry) => boolean): FieldSet {
  return world.managedFields
    .filter(accept)
    .reduce<FieldSet>((set, entry) => union(set, entry.fieldsV1 as FieldSet), noFields);
}

function property(check: (before: World, step: Step, after: World) => void): void {
  fc.assert(
    fc.property(arbitraryParts, fc.array(step, { minLength: 1, maxLength: 5 }), (first, steps) => {
      let world = start(first);
      for (const next of steps) {
        const before = structuredClone(world);
        const after = run(world, next);
        expect(world).toEqual(before);
        if (!after) continue;
        check(before, next, after);
        world = after;
      }
    }),
    { numRuns: 100 },
  );
}

describe('any series of writes by several managers', () => {
  it('keeps applied values', () => {
    property((_, next, after) => {
      if (next.do === 'update') return;
      const changes = compareObjects(partsShape, next.object, after.object);
      expect(changes.modified).toEqual({});
      expect(changes.removed).toEqual({});
    });
  });

  it('gives every changed field to the manager of the update only', () => {
    property((before, next, after) => {
      if (next.do === 'apply' || before.managedFields.length === 0) return;
      const { added, modified } = compareObjects(partsShape, before.object, after.object);
      const changed = union(added, modified);
      const isOwn = (entry: ManagedFieldsEntry) =>
        entry.manager === next.manager && entry.operation === 'Update';
      expect(difference(changed, ownedBy(after, isOwn))).toEqual({});
      const others = ownedBy(after, (entry) => !isOwn(entry));
      expect(difference(others, changed)).toEqual(others);
    });
  });

  it('never removes by apply fields of other managers, or unowned fields', () => {
    property((before, next, after) => {
      if (next.do === 'update') return;
      const isOwn = (entry: ManagedFieldsEntry) =>
        entry.manager === next.manager && entry.operation === 'Apply';
      const own = withNamedFields(ownedBy(before, isOwn), partsShape);
      const { removed, modified } = compareObjects(partsShape, before.object, after.object);
      const others = ownedBy(before, (entry) => !isOwn(entry));
      // A map disappears when it becomes empty. A value whose kind changed was replaced, not
      // removed.
      const lost = [...pathsOf(leavesOf(removed))].filter(
        (path) => !path.some((_, end) => has(modified, path.slice(0, end))),
      );
      // Only fields that this applier alone owned, or fields below them, are removed.
      for (const path of lost) {
        const within = path.some((_, end) => has(own, path.slice(0, end + 1)));
        expect(within).toBe(true);
        // Removing a list element removes fields of other managers who do not own the element
        // itself.
        const element = path.some((_, end) => {
          const prefix = path.slice(0, end);
          return end > 0 && has(own, prefix) && !has(others, prefix);
        });
        expect(has(others, path) && !element).toBe(false);
      }
    });
  });

  it('is unchanged when the last apply is repeated', () => {
    property((_, next, after) => {
      // An object without owners gets a first manager.
      if (next.do === 'update' || after.managedFields.length === 0) return;
      const again = run(after, next);
      expect(again?.managedFields).toEqual(after.managedFields);
      expect(again && deepEqual(again.object, after.object)).toBe(true);
    });
  });

  it('gives all fields to a manager that applies the whole object, without changes', () => {
    property((_, __, after) => {
      const config = after.object;
      const whole = run(after, { do: 'apply', manager: 'four', object: config, force: false });
      expect(whole && deepEqual(whole.object, after.object)).toBe(true);
      const own = whole?.managedFields.find((entry) => entry.manager === 'four');
      expect(own?.fieldsV1 ?? {}).toEqual(fieldsOf(partsShape, config));
    });
  });
});

function has(set: FieldSet, path: readonly string[]): boolean {
  if (path.length === 0) return false;
  let node: FieldSet | undefined = set;
  for (const element of path) node = node?.[element];
  return node !== undefined && (node['.'] !== undefined || isEmptySet(node));
}
