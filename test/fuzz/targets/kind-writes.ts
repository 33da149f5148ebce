/**
 * Random objects of every kind and version through the registry: each is taken or refused with causes that
 * name their fields, what was taken is read back the same in every version and format, and writing again
 * what is there changes nothing.
 */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '@orch/api';
import { type Codec, codecFor, SchemaError, StatusError } from '@orch/apimachinery';
import type { Entry } from '@orch/store';
import fc from 'fast-check';
import { freshObject, objectOf } from '../../../libs/apiserver/src/registry/entry-view.js';
import type { ServedResource } from '../../../libs/apiserver/src/registry/resource.js';
import { objectStrategy, partStrategy } from '../../../libs/apiserver/src/registry/strategies.js';
import type { UpdateStrategy } from '../../../libs/apiserver/src/registry/update.js';
import { toStoredShape } from '../../../libs/apiserver/src/request/decode-object.js';
import { objectJson, objectMessage } from '../../../libs/apiserver/src/response/encode-object.js';
import { rowOf } from '../../../libs/apiserver/src/response/table.js';
import { kindObject } from '../inputs/kind-objects.js';
import { withServed } from '../inputs/objects.js';
import { gateSetting, Registry } from '../inputs/registry.js';
import { asyncTarget, decodedOrRefused, type Target } from '../target.js';
import { checkInherited } from './refusals.js';

const nowMs = Date.parse('2026-01-02T03:04:05Z');

/** In the shape of its version; undefined for what does not fit its type. */
export function decoded(served: ServedResource, value: unknown): ApiObject | undefined {
  return decodedOrRefused(() => served.codec.fromJson(structuredClone(value)), SchemaError);
}

export function messageCodec({ codec }: ServedResource): Codec<ApiObject> {
  return codecFor<ApiObject>(codec.name);
}

/** Filling in defaults a second time changes nothing. */
function checkDefaults(served: ServedResource, sent: ApiObject): void {
  const object = structuredClone(sent);
  const setDefaults = () => {
    served.codec.setDefaults(object);
    served.served.setDefaults?.(object, served.features);
    return messageCodec(served).toJson(object);
  };
  assert.equal(setDefaults(), setDefaults(), 'defaults');
}

const reasons =
  /^(FieldValue(Required|Invalid|NotSupported|Duplicate|Forbidden|NotFound|TooLong|TooMany|TypeInvalid)|InternalError)$/;
const fieldPath = /^[A-Za-z][\w-]*(\.[\w$-]+|\[[^\]]*\])*/;
/** What comes of values that no rule has thought of. */
const unthought = /\bundefined\b|\[object |\bNaN\b|function /;

/** Undefined: refused as a client may be refused. */
export async function takenOrRefused(write: () => Promise<Entry>): Promise<Entry | undefined> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    // What the priority of pods may be is decided by admission.
    if (error.code === 403) return undefined;
    if (error.code !== 422) throw error;
    const { causes = [] } = error.status.details ?? {};
    assert.ok(causes.length > 0, `no causes: ${error.message}`);
    for (const { field = '', reason = '', message = '' } of causes) {
      assert.match(field, fieldPath, message);
      assert.match(reason, reasons);
      assert.doesNotMatch(message, unthought);
    }
    return undefined;
  }
}

/** What protobuf does not tell: lists that are empty, and what an object within an object is. */
const untold = new Set(['kind', 'apiVersion']);

export function asTold(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => asTold(one, name));
  if (typeof value !== 'object' || value === null) return value;
  const isTold = ([key, member]: [string, unknown]) =>
    !(Array.isArray(member) && member.length === 0) &&
    !(name === 'volumeClaimTemplates' && untold.has(key));
  const members = Object.entries(value).filter(isTold);
  return Object.fromEntries(members.map(([key, member]) => [key, asTold(member, key)]));
}

/** In every version, as JSON and as protobuf, and as a row. */
function checkRead(served: ServedResource, entry: Entry): void {
  const object = objectOf(entry);
  const { storedCodec, versions, definition } = served.resource;
  const stored = storedCodec.fromJson(freshObject(entry));
  assert.deepEqual(stored, JSON.parse(storedCodec.toJson(object)), 'not normal');
  for (const version of versions.values()) {
    const shown = JSON.parse(objectJson(version, entry).toString()) as ApiObject;
    const { apiVersion } = version;
    const codec = messageCodec(version);
    assert.equal(shown.apiVersion, apiVersion);
    const text = codec.toJson(shown);
    assert.deepEqual(JSON.parse(text), shown, `${apiVersion} is not normal`);
    const message = objectMessage(version, entry);
    const back = codec.fromProtobuf(message);
    assert.ok(codec.toProtobuf(back).equals(message));
    const isSame = isDeepStrictEqual(asTold(back), asTold(shown));
    if (!isSame) assert.deepEqual(back, shown, `${apiVersion} in protobuf`);
  }
  const row = rowOf(served, object, 'v1', 'None', nowMs) as { cells: unknown[] };
  assert.equal(row.cells.length, definition.columns.length);
  for (const cell of row.cells) {
    assert.ok(cell === null || ['string', 'number', 'boolean'].includes(typeof cell));
    assert.doesNotMatch(String(cell), unthought);
  }
}

function strategies(served: ServedResource): UpdateStrategy[] {
  const { status, finalize } = served.definition;
  return [
    objectStrategy(served),
    ...(status && !served.served.withoutStatus ? [partStrategy('status', status)] : []),
    ...(finalize ? [partStrategy('finalize', finalize)] : []),
  ];
}

/** Kinds that have rules for updates which hold for the object alone. */
const stricterUpdates = new Set(['Node']);

/**
 * Whoever reads an object and writes it back has done nothing. In another version than it was written in
 * that version's defaults and rules come to it, once.
 */
async function checkSame(registry: Registry, served: ServedResource, entry: Entry): Promise<Entry> {
  let current = entry;
  for (const version of [served, ...served.resource.versions.values()]) {
    for (const strategy of strategies(version)) {
      const write = () => {
        const shown = JSON.parse(objectJson(version, current).toString()) as ApiObject;
        return registry.update(version, objectOf(current), strategy, () =>
          toStoredShape(version, version.codec.fromJson(shown)),
        );
      };
      const isStrict = current === entry && version === served && strategy.subresource === '';
      if (!isStrict || stricterUpdates.has(served.kind)) {
        const first = await takenOrRefused(write);
        if (!first) continue;
        if (version === served) assertSame(first, current, version, strategy);
        current = first;
      }
      assertSame(await write(), current, version, strategy);
    }
  }
  return current;
}

function assertSame(
  written: Entry,
  read: Entry,
  { apiVersion }: ServedResource,
  { subresource }: UpdateStrategy,
): void {
  const by = `${apiVersion} ${subresource} changes what it has read`;
  assert.deepEqual(freshObject(written), freshObject(read), by);
  assert.equal(written, read, by);
}

/** Anything may be refused; what is taken keeps what the server keeps. */
async function checkChanges(
  registry: Registry,
  served: ServedResource,
  entry: Entry,
  next: ApiObject,
): Promise<void> {
  let current = entry;
  for (const strategy of strategies(served)) {
    const before = objectOf(current);
    const shown = JSON.stringify(before);
    const { name, namespace, resourceVersion } = before.metadata ?? {};
    const changed = await takenOrRefused(() =>
      registry.update(served, before, strategy, () => {
        const object = toStoredShape(served, structuredClone(next));
        object.metadata = {
          ...object.metadata,
          name,
          resourceVersion,
          ...(namespace && { namespace }),
        };
        delete object.metadata.uid;
        return object;
      }),
    );
    assert.equal(JSON.stringify(before), shown, 'the stored object was changed in place');
    if (!changed) continue;
    checkRead(served, changed);
    const { metadata = {} } = objectOf(changed);
    const { generation = 0 } = before.metadata ?? {};
    const step = (metadata.generation ?? 0) - generation;
    assert.ok(step === 0 || step === 1, `generation goes up by ${step}`);
    assert.equal(metadata.uid, before.metadata?.uid);
    assert.equal(metadata.creationTimestamp, before.metadata?.creationTimestamp);
    current = changed;
  }
}

export const kindWriteTargets: readonly Target[] = [
  asyncTarget(
    'kind-writes',
    withServed((served) => fc.tuple(kindObject(served), kindObject(served), gateSetting)),
    async ({ served: drawn, input: [first, second, gates] }) => {
      const registry = new Registry(gates);
      const served = registry.resource(drawn);
      const sent = decoded(served, first);
      if (!sent || served.definition.virtual) return;
      checkDefaults(served, sent);
      const entry = await takenOrRefused(() =>
        registry.create(served, toStoredShape(served, structuredClone(sent))),
      );
      if (!entry) return;
      checkRead(served, entry);
      const last = await checkSame(registry, served, entry);
      const next = decoded(served, second);
      if (next) await checkChanges(registry, served, last, next);
      checkInherited();
    },
    { share: 0.5 },
  ),
];
