import { codecFor } from '@orch/apimachinery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryObject } from '../../apimachinery/src/schema/testing/arbitrary-object.js';
import type { ApiObject } from './definition.js';
import { definitions } from './definitions.js';

const converted = definitions.flatMap((definition) =>
  definition.versions
    .filter(({ toStored }) => toStored !== undefined)
    .map((version) => ({
      name: `${version.group}/${version.version}.${definition.kind}`,
      storedName: `${definition.stored.group}/${definition.stored.version}.${definition.kind}`,
      version,
    })),
);

describe('conversions between versions', () => {
  it.each(converted)('$name: round-trips without loss', (it) => {
    const codec = codecFor<ApiObject>(it.name);
    const storedCodec = codecFor<ApiObject>(it.storedName);
    const toStored = (object: ApiObject) =>
      storedCodec.fromJson(it.version.toStored?.(codec.fromJson(object)));
    fc.assert(
      fc.property(arbitraryObject(it.name, 6), (object) => {
        const stored = toStored(object as ApiObject);
        const before = structuredClone(stored);
        const converted = it.version.fromStored!(stored);
        expect(stored).toEqual(before);
        expect(toStored(converted)).toEqual(before);
      }),
    );
  });
});
