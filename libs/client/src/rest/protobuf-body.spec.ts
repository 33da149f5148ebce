import { codecFor, unwrapUnknown } from '@orch/apimachinery';
import { describe, expect, it } from 'vitest';
import { encodeRequest } from './request-encoding.js';
import type { RequestOptions } from './rest-types.js';

const protobuf = 'application/vnd.orch.protobuf';
const json = 'application/json';
const bodyKind = { apiVersion: 'v1', kind: 'ConfigMap' };
const encode = (request: RequestOptions) => encodeRequest(request, {}, { sendsProtobuf: true });

describe('request bodies of a client that sends protobuf', () => {
  it.each([
    ['with the kind of the resource', { data: { a: '1' } }, bodyKind],
    [
      'with a kind of their own',
      { ...bodyKind, data: { a: '1' } },
      { apiVersion: 'v1', kind: 'Secret' },
    ],
  ])('are objects of built-in kinds in an envelope, %s', (_, body, kind) => {
    const request = encode({ body, bodyKind: kind });
    expect(request.headers['content-type']).toBe(protobuf);
    const envelope = unwrapUnknown(request.body as Buffer);
    expect(envelope).toMatchObject(bodyKind);
    expect(codecFor('core/v1.ConfigMap').fromProtobuf(envelope.raw)).toMatchObject(body);
  });

  it.each<[string, RequestOptions, string]>([
    [
      'a custom resource',
      { body: { x: 1 }, bodyKind: { apiVersion: 'a.example/v1', kind: 'A' } },
      json,
    ],
    ['the body of a subresource or a deletion', { body: { ...bodyKind } }, json],
    ['a value that the kind does not allow', { body: { data: { a: 1 } }, bodyKind }, json],
    [
      'a patch',
      { body: { ...bodyKind }, headers: { 'content-type': 'application/merge-patch+json' } },
      'application/merge-patch+json',
    ],
  ])('are JSON for %s', (_, request, contentType) => {
    const encoded = encode(request);
    expect(encoded.headers['content-type']).toBe(contentType);
    expect(JSON.parse(encoded.body as string)).toEqual(request.body);
  });

  it('stay absent if there are none', () => {
    expect(encode({})).toEqual({ headers: {}, body: null });
  });
});
