/**
 * Pairs of random objects of every kind: versions convert there and back, a patch computed from two
 * documents turns one into the other, and a manager that applies a configuration owns its fields.
 */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '@orch/api';
import { type Json, type JsonObject, mergeSchemaOf, shapeOf } from '@orch/apimachinery';
import fc from 'fast-check';
import { applying, decodeApplied } from '../../../libs/apiserver/src/handlers/apply.js';
import { patchFunction } from '../../../libs/apiserver/src/handlers/patch.js';
import { expectedOf } from '../../../libs/apiserver/src/request/decode-object.js';
import { checkConfig } from '../../../libs/apiserver/src/request/parse-config.js';
import { objectOf } from '../../../libs/registry/src/objects/entry-view.js';
import { applyTo, trackWrite } from '../../../libs/registry/src/objects/field-ownership.js';
import { objectStrategy } from '../../../libs/registry/src/store/strategies.js';
import type { ServedResource } from '../../../libs/registry/src/table/resource.js';
import { toStoredShape } from '../../../libs/registry/src/table/stored-shape.js';
import { kindObject } from '../inputs/kind-objects.js';
import { withServed } from '../inputs/objects.js';
import { ownedFields, shownFields } from '../inputs/owned-fields.js';
import {
  Ambiguous,
  jsonPatchBetween,
  mergePatchBetween,
  strategicPatchBetween,
} from '../inputs/patch-between.js';
import { EmptyCluster } from '../inputs/registry.js';
import { asyncTarget, decodedOrRefused, type Target, target } from '../target.js';
import { asTold, decoded, messageCodec, takenOrRefused } from './kind-writes.js';
import { checkInherited, doneOrRefused } from './refusals.js';

const nowMs = Date.parse('2026-01-02T03:04:05Z');

/**
 * Older versions of these kinds lack fields, and the user `*` of the oldest bindings means every
 * authenticated user. The fields that they have do not change.
 */
const withoutWords = new Set(['HorizontalPodAutoscaler', 'RoleBinding', 'ClusterRoleBinding']);

/** `stored` is valid; invalid objects may have values that some versions cannot express. */
function checkVersions(served: ServedResource, stored: ApiObject): void {
  const shown = JSON.stringify(stored);
  for (const version of served.resource.versions.values()) {
    const { apiVersion } = version;
    const codec = messageCodec(version);
    const text = codec.toJson(version.fromStored(stored));
    assert.equal(JSON.stringify(stored), shown, 'the stored object was changed in place');
    const back = version.toStored(codec.fromJson(JSON.parse(text)));
    if (!withoutWords.has(served.kind)) assert.deepEqual(asTold(back), asTold(stored), apiVersion);
    assert.equal(codec.toJson(version.fromStored(back)), text, `${apiVersion} again`);
  }
}

function patched(
  served: ServedResource,
  type: 'json' | 'merge' | 'strategic',
  from: Json,
  patch: Json,
) {
  const schema = `${served.schemaPackage}.${served.kind}`;
  return patchFunction(type, JSON.stringify(patch))(structuredClone(from) as JsonObject, schema);
}

function checkPatches(served: ServedResource, from: JsonObject, to: JsonObject): void {
  assert.deepEqual(patched(served, 'merge', from, mergePatchBetween(from, to)), to);
  assert.deepEqual(
    patched(served, 'json', from, jsonPatchBetween(from, to) as unknown as Json),
    to,
  );
  const schema = mergeSchemaOf(`${served.schemaPackage}.${served.kind}`);
  const patch = decodedOrRefused(() => strategicPatchBetween(from, to, schema), Ambiguous);
  if (patch) assert.deepEqual(patched(served, 'strategic', from, patch), to, JSON.stringify(patch));
  // A whole document may be refused as a patch, with one of these errors.
  doneOrRefused(() => patched(served, 'strategic', from, to));
  doneOrRefused(() => patched(served, 'merge', from, to));
}

/** The stored object and its managed fields after the configuration is applied. */
function applied(
  served: ServedResource,
  live: ApiObject | undefined,
  config: JsonObject,
  nowOffsetMs = 0,
): ApiObject | undefined {
  return doneOrRefused(() => {
    const { apiVersion, kind, codec } = served;
    checkConfig(config, { apiVersion, kind, shape: shapeOf(codec.name) });
    const { object, managedFields } = applying(() =>
      applyTo(served, live && structuredClone(live), {
        config: structuredClone(config),
        manager: 'm',
        force: true,
        nowMs: nowMs + nowOffsetMs,
        resetFields: objectStrategy(served).resetFields,
      }),
    );
    const stored = served.toStored(decodeApplied(object, expectedOf(served)));
    stored.metadata = { ...stored.metadata, ...(managedFields && { managedFields }) };
    return JSON.parse(JSON.stringify(stored)) as ApiObject;
  });
}

function withoutOwners({ metadata, ...rest }: ApiObject): object {
  return { ...rest, metadata: { ...metadata, managedFields: undefined } };
}

function fieldsOfApplier(object: ApiObject): string[] {
  const entries = object.metadata?.managedFields ?? [];
  const own = entries.find(({ manager, operation }) => manager === 'm' && operation === 'Apply');
  return own ? shownFields(own.fieldsV1 as unknown as JsonObject) : [];
}

/** A manager owns the fields of the configuration that it applies. */
function checkOwners(
  served: ServedResource,
  live: ApiObject | undefined,
  config: JsonObject,
): ApiObject | undefined {
  const object = applied(served, live, config);
  if (!object) return undefined;
  const { definition } = served;
  const reset = definition.status && !served.served.withoutStatus ? ['status'] : [];
  const shape = shapeOf(served.codec.name);
  assert.deepEqual(fieldsOfApplier(object), ownedFields(shape, config, reset));
  return object;
}

/**
 * Applying the configuration again changes nothing; applying an empty one gives up all fields.
 * `config` is in normal form, because empty values are not stored and an element may lose its key
 * with them.
 */
function checkSettled(
  served: ServedResource,
  live: ApiObject | undefined,
  config: JsonObject,
): void {
  const object = checkOwners(served, live, config);
  if (!object) return;
  const again = applied(served, object, config, 60_000);
  assert.ok(again, 'refused when applied again');
  assert.deepEqual(fieldsOfApplier(again), fieldsOfApplier(object));
  const shown = (one: ApiObject) => withoutOwners(served.fromStored(one));
  assert.ok(isDeepStrictEqual(shown(again), shown(object)), 'not settled');
  const { name = 'a', namespace } = (config.metadata ?? {}) as JsonObject;
  const metadata = { name, ...(namespace && { namespace }) };
  const left = applied(served, object, { ...namesOf(served), metadata });
  if (left) assert.deepEqual(fieldsOfApplier(left), []);
}

function namesOf({ apiVersion, kind }: ServedResource): JsonObject {
  return { apiVersion, kind };
}

const pair = withServed((served) => fc.tuple(kindObject(served), kindObject(served)));

/** The object as the server returns it, without members that have no value. */
function document(served: ServedResource, value: unknown): JsonObject | undefined {
  const object = decoded(served, value);
  return object && (JSON.parse(messageCodec(served).toJson(object)) as JsonObject);
}

export const kindChangeTargets: readonly Target[] = [
  asyncTarget('kind-versions', withServed(kindObject), async ({ served, input }) => {
    const object = decoded(served, input);
    if (!object || served.definition.virtual) return;
    const entry = await takenOrRefused(() =>
      new EmptyCluster().create(served, toStoredShape(served, object)),
    );
    if (entry) checkVersions(served, objectOf(entry));
    checkInherited();
  }),
  target('kind-patches', pair, ({ served, input: [first, second] }) => {
    const from = document(served, first);
    const to = document(served, second);
    if (from && to) checkPatches(served, from, to);
    checkInherited();
  }),
  target(
    'kind-applies',
    pair,
    ({ served, input: [first, second] }) => {
      const config = structuredClone(second) as JsonObject;
      delete (config.metadata as JsonObject).managedFields;
      const normal = document(served, config);
      checkOwners(served, undefined, config);
      if (normal) checkSettled(served, undefined, { ...normal, ...namesOf(served) });
      const live = decoded(served, first);
      if (!live) return;
      const stored = toStoredShape(served, live);
      delete stored.metadata?.managedFields;
      trackWrite(served, stored, undefined, {
        manager: 'w',
        nowMs,
        resetFields: objectStrategy(served).resetFields,
        acceptsSentFields: true,
      });
      const kept = JSON.parse(JSON.stringify(stored)) as ApiObject;
      checkOwners(served, kept, config);
      if (normal) checkSettled(served, kept, { ...normal, ...namesOf(served) });
      checkInherited();
    },
    { share: 0.5 },
  ),
];
