import type { RuntimeClass } from '@orch/types/node/v1';
import { describe, expect, it } from 'vitest';
import { create, update } from '../testing/write.js';
import { runtimeClass } from './runtime-class.js';

const alpha = runtimeClass.versions[2];

describe('runtime classes', () => {
  it.each<[object, string[]]>([
    [
      { handler: 'A' },
      [expect.stringMatching(/^handler: Invalid value: "A": a lowercase RFC 1123 label/) as string],
    ],
    [
      { handler: 'h', overhead: { podFixed: { storage: '1' } } },
      [
        'overhead.limits[storage]: Invalid value: "storage": must be a standard resource for containers',
      ],
    ],
    [
      {
        handler: 'h',
        scheduling: {
          nodeSelector: { 'a b': '' },
          tolerations: [
            { key: 'k', operator: 'Exists', value: 'v' },
            { key: 'k', operator: 'Exists', value: 'v' },
          ],
        },
      },
      [
        expect.stringMatching(/^scheduling\.nodeSelector: Invalid value: "a b"/) as string,
        expect.stringMatching(/^scheduling\.tolerations\.tolerations\[0\]\.operator:/) as string,
        expect.stringMatching(/^scheduling\.tolerations\.tolerations\[1\]\.operator:/) as string,
        expect.stringMatching(/^scheduling\.tolerations\[1\]: Duplicate value:/) as string,
      ],
    ],
  ])('reject %j', (body, messages) => {
    expect(create(runtimeClass, body).errors).toEqual(messages);
  });
  it('reject a change of the handler', () => {
    const { object } = create<RuntimeClass>(runtimeClass, { handler: 'h' });
    const { errors } = update<RuntimeClass>(runtimeClass, object, (changed) => {
      changed.handler = 'i';
    });
    expect(errors).toEqual(['handler: Invalid value: "i": field is immutable']);
  });
  it('nest their fields in a spec in the oldest version', () => {
    const spec = { runtimeHandler: 'h', overhead: { podFixed: { cpu: '1' } }, scheduling: {} };
    const { object, errors } = create<RuntimeClass>(runtimeClass, { spec }, alpha);
    expect(errors).toEqual([]);
    expect(object).toMatchObject({ handler: 'h', overhead: spec.overhead, scheduling: {} });
    expect(alpha?.fromStored?.(object)).toMatchObject({ spec });
  });
});
