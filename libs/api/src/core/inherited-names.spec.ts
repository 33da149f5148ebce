/** Keys from clients may be the names of inherited properties. */
import type { ConfigMap, Pod, Secret } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { create } from '../testing/write.js';
import { configMap } from './config-map.js';
import { pod } from './pod/pod.js';
import { secret } from './secret.js';

const parsed = (text: string): object => JSON.parse(text) as object;

describe('keys with inherited names', () => {
  it('are not duplicates in a config map', () => {
    const body = parsed('{"data":{"constructor":"a"},"binaryData":{"b":"AAEC"}}');
    expect(create<ConfigMap>(configMap, body).errors).toEqual([]);
    const twice = parsed('{"data":{"constructor":"a"},"binaryData":{"constructor":"AAEC"}}');
    expect(create<ConfigMap>(configMap, twice).errors).toEqual([
      expect.stringContaining('duplicate of key present in binaryData'),
    ]);
  });

  it('are stored in a secret', () => {
    const { object } = create<Secret>(secret, parsed('{"stringData":{"__proto__":"a","b":"c"}}'));
    expect(Object.entries(object.data ?? {})).toEqual([
      ['__proto__', 'YQ=='],
      ['b', 'Yw=='],
    ]);
  });

  it.each(['constructor', '__proto__', 'toString'])('are rejected as resources: %s', (name) => {
    const resources = parsed(`{"requests":{"${name}":"1"},"limits":{"cpu":"1"}}`);
    const body = { spec: { containers: [{ name: 'main', image: 'a', resources }] } };
    const { errors } = create<Pod>(pod, body);
    expect(errors.join()).toContain(`resources.requests[${name}]`);
  });
});
