import { dialect } from '@orch/component';
import type { Container, Pod, Service } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { containerEnvironment, type EnvironmentContext } from './container-environment.js';

const pod: Pod = {
  metadata: { name: 'web-1', namespace: 'shop', uid: 'u1', labels: { app: 'web' } },
  spec: { nodeName: 'n1', serviceAccountName: 'robot' },
};
const base64 = (text: string) => Buffer.from(text).toString('base64');
const service = (namespace: string, name: string): Service => ({
  metadata: { namespace, name },
  spec: {
    clusterIP: '10.0.0.1',
    ports: [
      { name: 'http', port: 80 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
  },
});

function environment(container: Partial<Container>, more: Partial<EnvironmentContext> = {}) {
  return containerEnvironment(
    { name: 'main', ...container },
    {
      pod,
      addresses: { podIp: '10.1.0.2', hostIp: '192.0.2.1' },
      allocatable: { cpuCores: 2, memoryBytes: 1024, ephemeralStorageBytes: 4096 },
      services: [],
      objects: {
        configMap: async (_namespace, name) =>
          name === 'settings' ? { data: { color: 'green', 'bad key': 'x' } } : undefined,
        secret: async (_namespace, name) =>
          name === 'keys' ? { data: { token: base64('s3') } } : undefined,
      },
      ...more,
    },
  );
}

describe('containerEnvironment', () => {
  it('overrides services by envFrom, and both by env', async () => {
    const skipped: string[] = [];
    const result = await environment(
      {
        envFrom: [
          { configMapRef: { name: 'settings' } },
          { prefix: 'KEY_', secretRef: { name: 'keys' } },
          { configMapRef: { name: 'none', optional: true } },
        ],
        env: [
          { name: 'color', value: 'red $(KEY_token)' },
          { name: 'WEB_SERVICE_HOST', value: 'mine' },
        ],
      },
      {
        services: [service('shop', 'web')],
        onSkippedKeys: (_source, keys) => skipped.push(...keys),
      },
    );
    expect(result.get('color')).toBe('red s3');
    expect(result.get('KEY_token')).toBe('s3');
    expect(result.get('WEB_SERVICE_HOST')).toBe('mine');
    expect(result.get('WEB_SERVICE_PORT')).toBe('80');
    expect(skipped).toEqual(['bad key']);
  });

  it('resolves fields, resources and keys', async () => {
    const from = (valueFrom: NonNullable<NonNullable<Container['env']>[number]['valueFrom']>) =>
      valueFrom;
    const result = await environment({
      resources: { limits: { cpu: '1500m' }, requests: { memory: '1Mi' } },
      env: [
        { name: 'A', valueFrom: from({ fieldRef: { fieldPath: 'metadata.name' } }) },
        { name: 'B', valueFrom: from({ fieldRef: { fieldPath: "metadata.labels['app']" } }) },
        { name: 'C', valueFrom: from({ fieldRef: { fieldPath: 'status.hostIP' } }) },
        { name: 'D', valueFrom: from({ resourceFieldRef: { resource: 'limits.cpu' } }) },
        {
          name: 'E',
          valueFrom: from({ resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } }),
        },
        { name: 'F', valueFrom: from({ resourceFieldRef: { resource: 'limits.memory' } }) },
        {
          name: 'G',
          valueFrom: from({ resourceFieldRef: { resource: 'requests.memory', divisor: '1Ki' } }),
        },
        { name: 'H', valueFrom: from({ secretKeyRef: { name: 'keys', key: 'token' } }) },
        {
          name: 'I',
          valueFrom: from({ configMapKeyRef: { name: 'no', key: 'k', optional: true } }),
        },
      ],
    });
    expect(Object.fromEntries(result)).toEqual({
      A: 'web-1',
      B: 'web',
      C: '192.0.2.1',
      D: '2',
      E: '1500',
      F: '1024',
      G: '1024',
      H: 's3',
    });
  });

  it.each([
    [{ configMapKeyRef: { name: 'none', key: 'k' } }, 'configmap "none" not found'],
    [
      { configMapKeyRef: { name: 'settings', key: 'k' } },
      "couldn't find key k in ConfigMap shop/settings",
    ],
    [{ secretKeyRef: { name: 'none', key: 'k' } }, 'secret "none" not found'],
    [{ fieldRef: { fieldPath: 'spec.unknown' } }, 'unsupported field path "spec.unknown"'],
  ])('refuses %j', async (valueFrom, message) => {
    await expect(environment({ env: [{ name: 'X', valueFrom }] })).rejects.toThrow(message);
  });

  it('includes the API service for every pod, and other services only with links', async () => {
    const api = service('default', dialect().word);
    const services = [api, service('shop', 'web-shop'), service('other', 'far')];
    const linked = await environment({}, { services });
    expect(linked.get('WEB_SHOP_PORT_53_UDP')).toBe('udp://10.0.0.1:53');
    expect(linked.get('WEB_SHOP_SERVICE_PORT_DNS')).toBe('53');
    expect([...linked.keys()].some((name) => name.startsWith('FAR'))).toBe(false);
    const unlinked = { ...pod, spec: { ...pod.spec, enableServiceLinks: false } };
    const bare = await environment({}, { services, pod: unlinked });
    expect(bare.get(`${dialect().word.toUpperCase()}_SERVICE_HOST`)).toBe('10.0.0.1');
    expect([...bare.keys()].some((name) => name.startsWith('WEB_SHOP'))).toBe(false);
  });
});
