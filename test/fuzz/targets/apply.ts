/** Server-side apply: configurations, and managed fields that clients send with objects. */
import assert from 'node:assert/strict';
import type { ApiObject } from '@orch/api';
import { SchemaError, shapeOf } from '@orch/apimachinery';
import fc from 'fast-check';
import { applying, decodeApplied } from '../../../libs/apiserver/src/handlers/apply.js';
import { expectedOf } from '../../../libs/apiserver/src/request/decode-object.js';
import { checkConfig, parseConfig } from '../../../libs/apiserver/src/request/parse-config.js';
import { applyTo, trackWrite } from '../../../libs/registry/src/objects/field-ownership.js';
import { objectStrategy } from '../../../libs/registry/src/store/strategies.js';
import type { ServedResource } from '../../../libs/registry/src/table/resource.js';
import { yamlBody } from '../inputs/bodies.js';
import { changedJson, hostileJson, jsonText } from '../inputs/json.js';
import { changedObject, realisticObject, withServed } from '../inputs/objects.js';
import { configText } from '../inputs/patches.js';
import { hostileText } from '../inputs/text.js';
import { decodedOrRefused, type Target, target } from '../target.js';

import { checkInherited, doneOrRefused } from './refusals.js';

const nowMs = Date.parse('2026-01-02T03:04:05Z');

function objectOf(served: ServedResource, value: unknown): ApiObject | undefined {
  return decodedOrRefused(
    () => served.codec.fromJson(JSON.parse(jsonText(value))),
    SchemaError,
    SyntaxError,
  );
}

function applied(served: ServedResource, text: string, live: ApiObject | undefined): void {
  const { apiVersion, kind, codec } = served;
  const result = doneOrRefused(() => {
    const config = parseConfig(text);
    checkConfig(config, { apiVersion, kind, shape: shapeOf(codec.name) });
    return applying(() =>
      applyTo(served, live && served.toStored(structuredClone(live)), {
        config,
        manager: 'm',
        force: false,
        nowMs,
        resetFields: objectStrategy(served).resetFields,
      }),
    );
  });
  checkInherited();
  if (!result) return;
  const object = doneOrRefused(() => decodeApplied(result.object, expectedOf(served)));
  if (!object) return;
  const entries = result.managedFields ?? [];
  const metadata = { ...object.metadata, managedFields: entries };
  const back = codec.fromJson(JSON.parse(JSON.stringify({ ...object, metadata })));
  assert.equal(back.metadata?.managedFields?.length ?? 0, entries.length);
}

const step = fc.oneof(
  fc.constantFrom(
    ...['.', 'f:metadata', 'f:labels', 'f:app', 'f:spec', 'f:containers', 'f:name', 'f:__proto__'],
    ...[
      'k:{"name":"main"}',
      'k:{"port":80,"protocol":"TCP"}',
      'k:{}',
      'k:[]',
      'k:',
      'k:{"name":1e999}',
    ],
    ...['v:"a.b/c"', 'v:1', 'v:', 'v:{"a":{"b":[]}}', 'i:0', 'i:-1', 'i:1e3', 'i:', 'x:y', 'f', ''],
  ),
  hostileText.map((text) => `f:${text}`),
  hostileText.map((text) => `v:${JSON.stringify(text)}`),
  fc
    .tuple(fc.constantFrom('v:', 'k:'), fc.constantFrom('[', '{"a":'), fc.nat(20_000))
    .map(([kind, opening, depth]) => {
      const closing = opening === '[' ? ']' : '}';
      const inner = opening === '[' ? '' : '1';
      return kind + opening.repeat(depth) + inner + closing.repeat(depth);
    }),
);

const fieldSet = fc.letrec<{ set: Record<string, unknown> }>((tie) => ({
  set: fc.dictionary(step, fc.oneof({ maxDepth: 4 }, fc.constant({}), tie('set')), { maxKeys: 4 }),
})).set;

const entry = fc.record(
  {
    manager: fc.oneof(fc.constantFrom('m', 'other', ''), hostileText),
    operation: fc.constantFrom('Apply', 'Update', 'apply', ''),
    apiVersion: fc.constantFrom('v1', 'apps/v1', 'v9', 'a/b/c', ''),
    time: fc.constantFrom('2026-01-02T03:04:05Z', '0001-01-01T00:00:00Z', 'now'),
    fieldsType: fc.constantFrom('FieldsV1', 'FieldsV2', ''),
    fieldsV1: fc.oneof({ weight: 6, arbitrary: fieldSet }, hostileJson),
    subresource: fc.constantFrom('status', ''),
  },
  { requiredKeys: ['operation', 'apiVersion', 'fieldsType', 'fieldsV1'] },
);

/** The object with these managed fields, as a client may send them back. */
function withEntries(served: ServedResource): fc.Arbitrary<unknown> {
  return fc
    .tuple(changedJson(fc.array(entry, { maxLength: 4 })), fc.constant(realisticObject(served)))
    .map(([managedFields, object]) => ({
      ...object,
      metadata: { ...(object.metadata as object), managedFields },
    }));
}

const managedFields = target(
  'managed-fields',
  withServed((served) =>
    fc.record({
      sent: withEntries(served),
      next: changedObject(served),
      config: configText(served),
    }),
  ),
  ({ served, input: { sent, next, config } }) => {
    const object = objectOf(served, sent);
    if (!object) return;
    const write = {
      manager: 'w',
      nowMs,
      resetFields: objectStrategy(served).resetFields,
      acceptsSentFields: true,
    };
    const stored = served.toStored(object);
    trackWrite(served, stored, undefined, write);
    const later = objectOf(served, next);
    if (later) trackWrite(served, served.toStored(later), structuredClone(stored), write);
    applied(served, config, served.fromStored(structuredClone(stored)));
  },
  { share: 0.25 },
);

export const applyTargets: readonly Target[] = [
  target(
    'apply-json',
    withServed((served) => fc.tuple(configText(served), fc.boolean())),
    ({ served, input: [text, isThere] }) => {
      const live = objectOf(served, realisticObject(served));
      applied(served, text, isThere ? live : undefined);
    },
    { share: 0.25 },
  ),
  target(
    'apply-yaml',
    withServed((served) => yamlBody(served)),
    ({ served, input }) => applied(served, input, objectOf(served, realisticObject(served))),
    { share: 0.05 },
  ),
  managedFields,
];
