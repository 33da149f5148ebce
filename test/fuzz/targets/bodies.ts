/** Request bodies in every format, decoded to an object of its type and encoded again. */
import assert from 'node:assert/strict';
import type { ApiObject } from '@orch/api';
import { codecFor, SchemaError } from '@orch/apimachinery';
import fc from 'fast-check';
import { schemaFile, schemaFileNames } from '../../../libs/apimachinery/src/schema/registry.js';
import { arbitraryObject } from '../../../libs/apimachinery/src/schema/testing/arbitrary-object.js';
import type { Format } from '../../../libs/apiserver/src/request/accept.js';
import { decodeBody, expectedOf } from '../../../libs/apiserver/src/request/decode-object.js';
import { unknownFields } from '../../../libs/registry/src/codec/unknown-fields.js';
import type { ServedResource } from '../../../libs/registry/src/table/resource.js';
import { jsonBody, protobufBody, yamlBody } from '../inputs/bodies.js';
import { changedJson, jsonText } from '../inputs/json.js';
import { withServed } from '../inputs/objects.js';
import { changedMessage } from '../inputs/protobuf.js';
import { decodedOrRefused, type Target, target } from '../target.js';
import { checkInherited, doneOrRefused } from './refusals.js';

const validations = fc.constantFrom('Ignore', 'Warn', 'Strict');

/** The escaped form of JSON. */
export const halfSurrogate = /\\ud[89a-f]/;

/** Decoded objects are in normal form: encoding and decoding does not change them. */
function checkRoundTrip(served: ServedResource, object: ApiObject): void {
  const codec = codecFor<ApiObject>(served.codec.name);
  const text = codec.toJson(object);
  assert.equal(codec.toJson(codec.fromJson(JSON.parse(text))), text);
  // A lone surrogate has no UTF-8 form.
  if (halfSurrogate.test(text)) return;
  const bytes = codec.toProtobuf(object);
  assert.ok(codec.toProtobuf(codec.fromProtobuf(bytes)).equals(bytes));
}

interface Body {
  readonly body: Buffer;
  readonly mode: 'Ignore' | 'Warn' | 'Strict';
}

function bodyTarget(
  name: string,
  format: Format,
  bytesOf: (served: ServedResource) => fc.Arbitrary<Buffer>,
  share: number,
): Target {
  const input = withServed((served) => fc.record({ body: bytesOf(served), mode: validations }));
  return target(
    name,
    input as fc.Arbitrary<{ readonly served: ServedResource; readonly input: Body }>,
    ({ served, input: { body, mode } }) => {
      const check = { mode, warnings: [] };
      const object = doneOrRefused(() => decodeBody(body, format, expectedOf(served), check));
      if (object) checkRoundTrip(served, object);
      checkInherited();
    },
    { share },
  );
}

const typeNames = schemaFileNames().flatMap((file) =>
  Object.keys(schemaFile(file).types).map((type) => `${file}.${type}`),
);

/** Types outside of the served kinds, which this program decodes as a client or webhook. */
const everyType = target(
  'types',
  fc.constantFrom(...typeNames).chain((name) =>
    fc.record({
      name: fc.constant(name),
      value: changedJson(arbitraryObject(name, 5)),
      bytes: changedMessage(fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))),
    }),
  ),
  ({ name, value, bytes }) => {
    const codec = codecFor<unknown>(name);
    const parsed = decodedOrRefused(() => JSON.parse(jsonText(value)) as unknown, SyntaxError);
    unknownFields(name, parsed);
    const object = decodedOrRefused(() => codec.fromJson(parsed), SchemaError);
    if (object !== undefined) {
      decodedOrRefused(() => codec.setDefaults(object), SchemaError);
      const text = codec.toJson(object);
      assert.equal(codec.toJson(JSON.parse(text)), text);
      const message = decodedOrRefused(() => codec.toProtobuf(object), SchemaError);
      if (message) codec.fromProtobuf(message);
    }
    decodedOrRefused(() => codec.fromProtobuf(bytes), SchemaError);
    checkInherited();
  },
);

export const bodyTargets: readonly Target[] = [
  bodyTarget('json-bodies', 'json', jsonBody, 1),
  bodyTarget(
    'yaml-bodies',
    'yaml',
    (served) => yamlBody(served).map((text) => Buffer.from(text)),
    0.05,
  ),
  bodyTarget('protobuf-bodies', 'protobuf', protobufBody, 1),
  everyType,
];
