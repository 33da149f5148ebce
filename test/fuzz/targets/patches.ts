/** Patches of all kinds, applied to a stored object, with the result decoded. */
import assert from 'node:assert/strict';
import {
  checkTyped,
  deepEqual,
  type JsonObject,
  semanticallyEqual,
  shapeOf,
  TypedError,
} from '@orch/apimachinery';
import fc from 'fast-check';
import { decodePatched, patchFunction } from '../../../libs/apiserver/src/handlers/patch.js';
import { expectedOf } from '../../../libs/apiserver/src/request/decode-object.js';
import { unknownFields } from '../../../libs/registry/src/codec/unknown-fields.js';
import type { ServedResource } from '../../../libs/registry/src/table/resource.js';
import { toStoredShape } from '../../../libs/registry/src/table/stored-shape.js';
import { damagedText } from '../inputs/bytes.js';
import { jsonText, jsonTokens } from '../inputs/json.js';
import { changedObject, realisticObject, withServed } from '../inputs/objects.js';
import { jsonPatch, strategicPatch } from '../inputs/patches.js';
import { inheritedNames } from '../inputs/text.js';
import { cheap, decodedOrRefused, type Target, target } from '../target.js';
import { checkInherited, doneOrRefused } from './refusals.js';

type PatchType = Parameters<typeof patchFunction>[0];

function patchTarget(
  type: PatchType,
  name: string,
  patch: (served: ServedResource) => fc.Arbitrary<unknown>,
): Target {
  const input = withServed((served) =>
    damagedText(
      patch(served).map((value) => jsonText(value)),
      jsonTokens,
    ),
  );
  return target(name, input, ({ served, input: text }) => {
    const document = realisticObject(served) as JsonObject;
    const shown = JSON.stringify(document);
    const schema = `${served.schemaPackage}.${served.kind}`;
    const patched = doneOrRefused(() => patchFunction(type, text)(document, schema));
    assert.equal(JSON.stringify(document), shown, 'the document was changed in place');
    checkInherited();
    if (patched === undefined) return;
    unknownFields(schema, patched);
    const object = doneOrRefused(() => decodePatched(patched, expectedOf(served)));
    if (object) toStoredShape(served, object);
  });
}

const names = fc.constantFrom('a', 'b', ...inheritedNames);
const smallValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(null, 0, -0, 1, '', 'a', true),
    fc.array(tie('value'), { maxLength: 2 }),
    fc
      .array(fc.tuple(names, tie('value')), { maxLength: 3 })
      .map((members) => JSON.parse(`{${members.map(memberText).join()}}`) as unknown),
  ),
})).value;

function memberText([name, value]: readonly [string, unknown]): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

/** A text that is equal for equal values: a second way to compare them. */
function sorted(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`;
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}:${sorted(member)}`,
  );
  return `{${members.sort().join()}}`;
}

/** Equality of two values must not depend on inherited members. */
const equality = target('equality', fc.tuple(smallValue, smallValue), ([one, other]) => {
  assert.equal(deepEqual(one, other), sorted(one) === sorted(other));
  assert.ok(deepEqual(one, structuredClone(one)));
  if (deepEqual(one, other)) assert.ok(semanticallyEqual(one, other));
});

const typed = target(
  'typed-values',
  withServed((served) => changedObject(served)),
  ({ served, input }) => {
    const value = decodedOrRefused(() => JSON.parse(jsonText(input)) as JsonObject, SyntaxError);
    if (value === undefined) return;
    decodedOrRefused(() => checkTyped(shapeOf(served.codec.name), value), TypedError);
  },
);

export const patchTargets: readonly Target[] = [
  patchTarget('json', 'json-patches', jsonPatch),
  patchTarget('merge', 'merge-patches', changedObject),
  patchTarget('strategic', 'strategic-patches', strategicPatch),
  typed,
  ...cheap([equality]),
];
