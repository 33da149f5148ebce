/**
 * Random objects of every kind and version through the registry: each is stored, or refused with
 * causes that name fields; a stored object reads the same in every version and format; and writing
 * a stored object again changes nothing.
 */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '@orch/api';
import { type Codec, codecFor, SchemaError, StatusError } from '@orch/apimachinery';
import type { Entry } from '@orch/store';
import fc from 'fast-check';
import { objectJson, objectMessage } from '../../../libs/apiserver/src/response/encode-object.js';
import { rowOf } from '../../../libs/apiserver/src/response/table.js';
import { freshObject, objectOf } from '../../../libs/registry/src/objects/entry-view.js';
import { objectStrategy, partStrategy } from '../../../libs/registry/src/store/strategies.js';
import type { UpdateStrategy } from '../../../libs/registry/src/store/update-strategy.js';
import type { ServedResource } from '../../../libs/registry/src/table/resource.js';
import { toStoredShape } from '../../../libs/registry/src/table/stored-shape.js';
import { kindObject } from '../inputs/kind-objects.js';
import { withServed } from '../inputs/objects.js';
import { EmptyCluster, gateSetting } from '../inputs/registry.js';
import { asyncTarget, decodedOrRefused, type Target } from '../target.js';
import { checkInherited } from './refusals.js';

const nowMs = Date.parse('2026-01-02T03:04:05Z');

/** The object in the shape of its version, or undefined if it does not fit its type. */
export function decoded(served: ServedResource, value: unknown): ApiObject | undefined {
  return decodedOrRefused(() => served.codec.fromJson(structuredClone(value)), SchemaError);
}

export function messageCodec({ codec }: ServedResource): Codec<ApiObject> {
  return codecFor<ApiObject>(codec.name);
}

/** Defaulting twice has the effect of defaulting once. */
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
/** Messages that show a value which no rule expected. */
const unthought = /\bundefined\b|\[object |\bNaN\b|function /;

/** The stored object, or undefined if the write is refused with a client error. */
export async function takenOrRefused(write: () => Promise<Entry>): Promise<Entry | undefined> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    // Admission decides on the priority of pods.
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

/** New definitions of custom resources have this member, which decoding removes. */
function isNullList(name: string, value: unknown): boolean {
  return name === 'conditions' && value === null;
}

function withoutNullLists<T>(object: T): T {
  return JSON.parse(
    JSON.stringify(object, (name, value) => (isNullList(name, value) ? undefined : value)),
  ) as T;
}

/** Removes the information that protobuf lacks: empty lists, and the type of embedded objects. */
const untold = new Set(['kind', 'apiVersion']);

export function asTold(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => asTold(one, name));
  if (typeof value !== 'object' || value === null) return value;
  const isTold = ([key, member]: [string, unknown]) =>
    !isNullList(key, member) &&
    !(Array.isArray(member) && member.length === 0) &&
    !(name === 'volumeClaimTemplates' && untold.has(key));
  const members = Object.entries(value).filter(isTold);
  return Object.fromEntries(members.map(([key, member]) => [key, asTold(member, key)]));
}

/** Checks the object in every version, as JSON, as protobuf and as a row. */
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
    assert.deepEqual(JSON.parse(text), withoutNullLists(shown), `${apiVersion} is not normal`);
    const message = objectMessage(version, entry);
    const back = codec.fromProtobuf(message);
    assert.ok(codec.toProtobuf(back).equals(message));
    const isSame = isDeepStrictEqual(asTold(back), asTold(shown));
    if (!isSame) assert.deepEqual(back, withoutNullLists(shown), `${apiVersion} in protobuf`);
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
    ...(status && !served.served.withoutStatus ? [partStrategy(served, 'status', status)] : []),
    ...(finalize ? [partStrategy(served, 'finalize', finalize)] : []),
  ];
}

/** Kinds whose update rules depend on the new object only. */
const stricterUpdates = new Set(['Node']);

/**
 * Writing back the object that was read changes nothing. In another version than the written one,
 * the defaults and rules of that version apply, once.
 */
async function checkSame(
  registry: EmptyCluster,
  served: ServedResource,
  entry: Entry,
): Promise<Entry> {
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
      const hasNullLists = JSON.stringify(objectOf(current)).includes('"conditions":null');
      if (!isStrict || hasNullLists || stricterUpdates.has(served.kind)) {
        const first = await takenOrRefused(write);
        if (!first) continue;
        if (version === served && !hasNullLists) assertSame(first, current, version, strategy);
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
  const by = `${apiVersion} ${subresource} changes an object that it read`;
  assert.deepEqual(freshObject(written), freshObject(read), by);
  assert.equal(written, read, by);
}

/** An update may be refused; a stored one retains the fields that the server owns. */
async function checkChanges(
  registry: EmptyCluster,
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
    assert.ok(step === 0 || step === 1, `generation increases by ${step}`);
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
      const registry = new EmptyCluster(gates);
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
