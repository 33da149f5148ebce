/** Any input of a client is either decoded or rejected with a client error. */
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  codecFor,
  type Json,
  type JsonObject,
  mergeSchemaOf,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
  StatusError,
  wrapUnknown,
} from '@orch/apimachinery';
import { decodeContinueToken, encodeContinueToken } from '@orch/registry';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Format } from './accept.js';
import { decodeBody, type Expected } from './decode-object.js';

const envelopeMagic = wrapUnknown('', '', Buffer.alloc(0)).subarray(0, 4);
const runs = { numRuns: 300 };

/** Runs it; an error other than a rejection of the client's input fails the test. */
function refusedOrDone(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (error instanceof SelectorError) return;
    if (!(error instanceof StatusError)) throw error;
    expect(error.code).toBeLessThan(500);
  }
}

const pod = (): Expected => ({
  apiVersion: 'v1',
  kind: 'Pod',
  groupHead: 'core',
  codec: codecFor('core/v1.Pod'),
});

const someKeys = ['metadata', 'name', 'spec', 'containers', 'labels', '$patch', '__proto__', 'a'];
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true }),
    fc.constantFrom('replace', 'delete', 'merge', 'frob', '', 'main'),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...someKeys), fc.string()), tie('value'), {
      maxKeys: 5,
    }),
  ),
})).value;

const document: JsonObject = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'a', labels: { a: 'b' }, finalizers: ['x', 'y'] },
  spec: { containers: [{ name: 'main', env: [{ name: 'A', value: '1' }] }] },
};

const directives = fc.constantFrom(
  '$patch',
  '$retainKeys',
  '$setElementOrder/containers',
  '$deleteFromPrimitiveList/finalizers',
  'containers',
  'finalizers',
  'env',
  'name',
);

describe('hostile input', () => {
  it.each<Format>(['json', 'yaml', 'protobuf'])('of bytes as %s', (format) => {
    const start = format === 'protobuf' ? envelopeMagic : Buffer.alloc(0);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, framed) => {
        const body = framed ? Buffer.concat([start, bytes]) : Buffer.from(bytes);
        refusedOrDone(() => decodeBody(body, format, pod()));
      }),
      runs,
    );
  });

  it.each<Format>(['json', 'yaml'])('of values as %s', (format) => {
    fc.assert(
      fc.property(json, (value) => {
        refusedOrDone(() => decodeBody(Buffer.from(JSON.stringify(value)), format, pod()));
      }),
      runs,
    );
  });

  it('of an encoded object with bytes changed', () => {
    const codec = codecFor<JsonObject>('core/v1.Pod');
    const bytes = codec.toProtobuf(codec.fromJson(structuredClone(document)));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
        fc.nat(bytes.length),
        (changes, length) => {
          const body = Buffer.from(bytes.subarray(0, length));
          for (const [at, byte] of changes) if (at < length) body[at] = byte;
          refusedOrDone(() => decodeBody(wrapUnknown('v1', 'Pod', body), 'protobuf', pod()));
        },
      ),
      runs,
    );
  });

  it('of JSON nested without end in an encoded object', () => {
    const fieldsV1 = Buffer.from(`${'[['.repeat(50_000)}${']]'.repeat(50_000)}`);
    const entry = { manager: 'x', fieldsV1 };
    const body = codecFor<JsonObject>('core/v1.Pod').toProtobuf({
      metadata: { managedFields: [entry] },
    } as unknown as JsonObject);
    expect(() => decodeBody(wrapUnknown('v1', 'Pod', body), 'protobuf', pod())).toThrow(
      /nested deeper/,
    );
  });

  it('of patches', () => {
    const pointer = fc
      .array(fc.oneof(fc.constantFrom(...someKeys, '0', '-', '-1', '9'), fc.string()))
      .map((parts) => parts.map((part) => `/${part}`).join(''));
    const operation = fc.record({
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'frob'),
      path: pointer,
      from: pointer,
      value: json,
    });
    const strategic = fc.dictionary(
      fc.constantFrom('metadata', 'spec', '$patch', '$retainKeys'),
      fc.oneof(json, fc.dictionary(directives, json)),
    );
    const shown = JSON.stringify(document);
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 8 }), json, strategic, (list, value, patch) => {
        refusedOrDone(() => applyJsonPatch(document, list as Json));
        refusedOrDone(() => applyMergePatch(document, value));
        refusedOrDone(() =>
          applyStrategicMergePatch(document, patch as JsonObject, mergeSchemaOf('core/v1.Pod')),
        );
        expect(JSON.stringify(document)).toBe(shown);
        expect(Object.prototype).not.toHaveProperty('a');
      }),
      runs,
    );
  });

  it('of selectors', () => {
    const piece = fc.oneof(
      fc.constantFrom('a', 'in', 'notin', '(', ')', ',', '=', '!=', '!', '>', '<', ' ', '\\', '1'),
      fc.string({ unit: 'binary', maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        refusedOrDone(() => parseLabelSelector(pieces.join('')).matches({ a: '1' }));
        refusedOrDone(() => parseFieldSelector(pieces.join('')).matches(() => '1'));
      }),
      runs,
    );
  });

  it('of continue tokens, while issued ones are read back', () => {
    fc.assert(
      fc.property(fc.string(), json, (text, value) => {
        refusedOrDone(() => decodeContinueToken(text));
        const forged = Buffer.from(JSON.stringify(value)).toString('base64url');
        refusedOrDone(() => decodeContinueToken(forged));
        const token = { revision: undefined, startAfter: `k${text}` };
        expect(decodeContinueToken(encodeContinueToken(token))).toEqual(token);
      }),
      runs,
    );
  });
});
