import { definitions } from '@orch/api';
import type { Entry, Revision } from '@orch/store';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Resource } from '../table/resource.js';
import {
  detachedEntry,
  metadataBytes,
  sameStoredBytes,
  storedBytes,
  withRevision,
} from './object-bytes.js';

const resource = new Resource(definitions.find(({ plural }) => plural === 'configmaps')!);

/** As the store does it. */
function stored(bytes: Buffer, revision: number): Entry {
  const at = resource.revisionOffset;
  return {
    key: resource.key('default', 'a'),
    bytes: Buffer.concat([
      bytes.subarray(0, at),
      Buffer.from(String(revision)),
      bytes.subarray(at),
    ]),
    createRevision: revision as Revision,
    revision: revision as Revision,
    derived: undefined,
  };
}

const texts = fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true });

describe('stored bytes', () => {
  it('are JSON of the object with the version in its place, whatever it holds', () => {
    fc.assert(
      fc.property(texts, texts, fc.integer({ min: 1 }), (labels, data, revision) => {
        const object = { metadata: { name: 'a', labels }, data };
        const entry = stored(storedBytes(resource, object), revision);
        expect(JSON.parse(entry.bytes.toString())).toEqual({
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { ...object.metadata, resourceVersion: String(revision) },
          data,
        });
        expect(sameStoredBytes(resource, storedBytes(resource, object), entry)).toBe(true);
        const later = withRevision(resource, entry, 12_345 as Revision);
        expect(JSON.parse(later.toString()).metadata.resourceVersion).toBe('12345');
      }),
    );
  });

  it('show the metadata without parsing, whatever it holds', () => {
    fc.assert(
      fc.property(texts, texts, fc.integer({ min: 1 }), (labels, data, revision) => {
        const metadata = { name: 'a', labels, annotations: { nested: JSON.stringify(labels) } };
        const object = { metadata, data };
        const entry = stored(storedBytes(resource, object), revision);
        expect(metadataBytes(resource, entry.bytes).toString()).toBe(
          JSON.stringify(JSON.parse(entry.bytes.toString()).metadata),
        );
      }),
    );
    const bare = detachedEntry(resource, { metadata: {} }, resource.key('default', 'a'));
    expect(metadataBytes(resource, bare.bytes).toString()).toBe('{}');
  });

  it('leave the object as it was', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', resourceVersion: '7' },
    };
    const copy = structuredClone(object);
    storedBytes(resource, object);
    expect(object).toEqual(copy);
  });

  it('distinguish a changed object from an unchanged one', () => {
    const entry = stored(storedBytes(resource, { metadata: { name: 'a' } }), 9);
    const changed = storedBytes(resource, { metadata: { name: 'b' } });
    expect(sameStoredBytes(resource, changed, entry)).toBe(false);
  });

  it('show no version for an object that has none', () => {
    const entry = detachedEntry(resource, { metadata: { name: 'a' } }, 'k');
    expect(JSON.parse(entry.bytes.toString())).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a' },
    });
  });
});
