/** Patches and configurations to apply, valid and nearly valid. */
import { schemaType } from '@orch/apimachinery';
import fc from 'fast-check';
import type { ServedResource } from '../../../libs/registry/src/table/resource.js';
import { damagedText } from './bytes.js';
import { changedJson, hostileJson, jsonText, jsonTokens } from './json.js';
import { changedObject } from './objects.js';
import { hostileText } from './text.js';

/** Pointers to existing and missing members of an object of the kind. */
function pointer(served: ServedResource): fc.Arbitrary<string> {
  const steps = [
    ...[
      'metadata',
      'labels',
      'annotations',
      'finalizers',
      'name',
      'spec',
      'template',
      'containers',
    ],
    ...['0', '1', '-', '-1', '01', '9', '4294967295', '~0', '~1', '~', '', 'data', 'status'],
    ...schemaType(served.codec.name).fields.map((field) => field.name),
  ];
  const step = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...steps) }, hostileText);
  return fc.array(step, { maxLength: 6 }).map((all) => all.map((one) => `/${one}`).join(''));
}

export function jsonPatch(served: ServedResource): fc.Arbitrary<unknown> {
  const operation = fc.record(
    {
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'frob'),
      path: pointer(served),
      from: pointer(served),
      value: hostileJson,
    },
    { requiredKeys: ['op', 'path'] },
  );
  return changedJson(fc.array(operation, { maxLength: 10 }));
}

const directives = [
  '$patch',
  '$retainKeys',
  '$setElementOrder/containers',
  '$setElementOrder/finalizers',
  '$setElementOrder/env',
  '$deleteFromPrimitiveList/finalizers',
  '$setElementOrder/',
  '$deleteFromPrimitiveList/__proto__',
];

const directiveValue = fc.oneof(
  fc.constantFrom('delete', 'replace', 'merge', 'retainKeys', 'frob'),
  fc.array(fc.constantFrom<unknown>('a', 'main', 'a.b/c', 'name', null, 1, {}, { name: 'main' })),
  hostileJson,
);

/** The object with directives added to some of its members. */
function directed(value: unknown, all: readonly (readonly [number, string, unknown])[]): unknown {
  const root = JSON.parse(JSON.stringify(value ?? {})) as unknown;
  const objects: Record<string, unknown>[] = [];
  const collect = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return;
    if (!Array.isArray(one)) objects.push(one as Record<string, unknown>);
    for (const member of Object.values(one)) collect(member);
  };
  collect(root);
  for (const [at, name, directive] of all) {
    const object = objects[at % objects.length];
    if (object) object[name] = directive;
  }
  return root;
}

export function strategicPatch(served: ServedResource): fc.Arbitrary<unknown> {
  const directive = fc.tuple(fc.nat(400), fc.constantFrom(...directives), directiveValue);
  return fc
    .tuple(changedObject(served), fc.array(directive, { maxLength: 4 }))
    .map(([value, all]) => directed(value, all));
}

/** The object without the fields that only the server sets. */
function configOf(value: unknown): unknown {
  const { metadata, ...rest } = (value ?? {}) as { metadata?: Record<string, unknown> };
  const { managedFields: _, ...named } = metadata ?? {};
  return { ...rest, metadata: named };
}

export function configText(served: ServedResource): fc.Arbitrary<string> {
  return damagedText(
    changedObject(served).map((value) => jsonText(configOf(value))),
    jsonTokens,
  );
}
