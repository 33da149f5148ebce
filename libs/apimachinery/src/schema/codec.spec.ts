import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1';
import type { ControllerRevision } from '@orch/types/apps/v1';
import type { ConfigMap, Container, Pod, Secret, Service } from '@orch/types/core/v1';
import type { WatchEvent } from '@orch/types/meta/v1';
import { describe, expect, it } from 'vitest';
import { codecFor } from './codec.js';
import { unwrapUnknown, wrapUnknown } from './envelope.js';
import { SchemaError } from './schema-error.js';

const pods = codecFor<Pod>('core/v1.Pod');
const configMaps = codecFor<ConfigMap>('core/v1.ConfigMap');

function errorOf(check: () => unknown): SchemaError {
  try {
    check();
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('numbers of free-form values', () => {
  it.each(['1e999', '-1e999', '{"a":[1e999]}'])(
    'are rejected if they are out of range: %s',
    (text) => {
      const codec = codecFor('apiextensions/v1.JSON');
      expect(() => codec.fromJson(JSON.parse(text))).toThrow(SchemaError);
    },
  );
});

describe('fromJson', () => {
  it('drops unknown fields, nulls and empty optional fields', () => {
    const input = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', labels: {}, Name: 'b', extra: 1 },
      data: null,
      more: {},
    };
    expect(configMaps.fromJson(input)).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a' },
    });
  });

  it('adds always-written fields', () => {
    const pod = pods.fromJson({ spec: { containers: [{}], nodeName: '' } });
    expect(pod).toEqual({
      metadata: {},
      spec: { containers: [{ name: '', resources: {} }] },
      status: {},
    });
    expect(codecFor('core/v1.PodList').fromJson({})).toEqual({ metadata: {}, items: [] });
  });

  it('treats null as the empty object', () => {
    expect(configMaps.fromJson(null)).toEqual({ metadata: {} });
  });

  it('normalises quantities and times', () => {
    const resources = { limits: { memory: '1024Mi', cpu: 0.5 } };
    const pod = pods.fromJson({
      metadata: { creationTimestamp: '2020-01-01T01:30:00.25+01:30' },
      spec: { containers: [{ name: 'a', resources }] },
    });
    expect(pod.metadata?.creationTimestamp).toBe('2020-01-01T00:00:00Z');
    expect(JSON.stringify(pod.spec?.containers?.[0]?.resources)).toBe(
      '{"limits":{"cpu":"500m","memory":"1Gi"}}',
    );
  });

  it('does not change the input', () => {
    const input = Object.freeze({ data: Object.freeze({ b: '1', a: '2' }) });
    expect(JSON.stringify(configMaps.fromJson(input).data)).toBe('{"a":"2","b":"1"}');
  });

  it('keeps map keys with inherited names', () => {
    const input: unknown = JSON.parse('{"data":{"__proto__":"x","b":"1","a":null}}');
    const text = configMaps.toJson(configMaps.fromJson(input));
    expect(text).toBe('{"metadata":{},"data":{"__proto__":"x","a":"","b":"1"}}');
  });

  it.each([
    [{ data: { a: 1 } }, 'data[a]: expected a string, found the number 1'],
    [{ data: [] }, 'data: expected an object, found a list'],
    [{ metadata: 'x' }, 'metadata: expected an object, found a string'],
    [{ binaryData: { a: '***' } }, 'binaryData[a]: illegal base64 data'],
    [[], 'expected an object, found a list'],
  ])('reports the path of the error in %j', (input, message) => {
    expect(errorOf(() => configMaps.fromJson(input)).message).toBe(message);
  });

  it.each([
    [{ spec: { containers: { name: 'a' } } }, 'spec.containers'],
    [
      { spec: { containers: [{}, { ports: [{ containerPort: 1.5 }] }] } },
      'spec.containers[1].ports[0].containerPort',
    ],
    [{ spec: { priority: 99_999_999_999 } }, 'spec.priority'],
    [
      { spec: { containers: [{ resources: { limits: { cpu: 'lots' } } }] } },
      'spec.containers[0].resources.limits[cpu]',
    ],
    [{ metadata: { creationTimestamp: 'yesterday' } }, 'metadata.creationTimestamp'],
  ])('reports the path of the error in %j', (input, path) => {
    expect(errorOf(() => pods.fromJson(input)).path).toBe(path);
  });

  it('rejects deep nesting', () => {
    const depth = 100_000;
    const text = `{"spec":{"versions":[{"schema":{"openAPIV3Schema":${'{"not":'.repeat(depth)}{}${'}'.repeat(depth)}}}]}}`;
    const codec = codecFor<CustomResourceDefinition>('apiextensions/v1.CustomResourceDefinition');
    expect(errorOf(() => codec.fromJson(JSON.parse(text))).message).toContain('nested deeper');
  });
});

describe('setDefaults', () => {
  it('sets constants at every depth and keeps existing values', () => {
    const pod = pods.fromJson({
      spec: {
        containers: [{ name: 'a', image: 'i', ports: [{ containerPort: 1 }] }],
        restartPolicy: 'Never',
        volumes: [{ name: 'v', secret: { secretName: 's' } }],
      },
    });
    pods.setDefaults(pod);
    const container: Container | undefined = pod.spec?.containers?.[0];
    expect(pod.spec).toMatchObject({
      restartPolicy: 'Never',
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    });
    expect(container?.ports?.[0]?.protocol).toBe('TCP');
    expect(container?.terminationMessagePath).toBe('/dev/termination-log');
    expect(pod.spec?.volumes?.[0]?.secret?.defaultMode).toBe(420);
    expect(pod.spec?.containers?.[0]?.livenessProbe).toBeUndefined();
  });

  it('keeps an explicit zero that differs from absent', () => {
    const pod = pods.fromJson({ spec: { terminationGracePeriodSeconds: 0 } });
    pods.setDefaults(pod);
    expect(pod.spec?.terminationGracePeriodSeconds).toBe(0);
  });

  it('rounds resource quantities up to thousandths', () => {
    const pod = pods.fromJson({
      spec: { containers: [{ name: 'a', resources: { requests: { cpu: '1500u' } } }] },
    });
    pods.setDefaults(pod);
    expect(pod.spec?.containers?.[0]?.resources?.requests).toEqual({ cpu: '2m' });
  });

  it('sets defaults in always-present members', () => {
    const namespaces = codecFor<{ status?: { phase?: string } }>('core/v1.Namespace');
    const namespace = {};
    namespaces.setDefaults(namespace);
    expect(namespace).toMatchObject({ status: { phase: 'Active' } });
  });

  it('shares no values between objects', () => {
    const crds = codecFor<CustomResourceDefinition>('apiextensions/v1.CustomResourceDefinition');
    const [first, second] = [crds.fromJson({}), crds.fromJson({})];
    crds.setDefaults(first);
    crds.setDefaults(second);
    expect(first.spec.conversion).toEqual({ strategy: 'None' });
    expect(first.spec.conversion).not.toBe(second.spec.conversion);
  });
});

describe('protobuf', () => {
  it('writes required scalars, and empty times', () => {
    const bytes = configMaps.toProtobuf({ metadata: { name: 'a' }, data: { k: 'v' } });
    expect(bytes.toString('hex')).toBe(
      // name, six empty texts, generation 0, no creation time, no cluster name; data k = v
      '0a130a016112001a0022002a00320038004200' + '7a00' + '12060a016b120176',
    );
  });

  it('reads messages of other encoders', () => {
    const bytes = Buffer.from('0a030a016112060a016b1201769a0601ff', 'hex');
    expect(configMaps.fromProtobuf(bytes)).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a' },
      data: { k: 'v' },
    });
  });

  it('skips unknown fields of every wire type', () => {
    const unknown = [
      '9806ffffffff0f',
      '99060102030405060708',
      '9a0602aabb',
      '9b0608019c06',
      '9d0601020304',
    ];
    const known = '0a030a0161';
    for (const field of unknown) {
      const bytes = Buffer.from(`${field}${known}${field}`, 'hex');
      expect(configMaps.fromProtobuf(bytes).metadata).toEqual({ name: 'a' });
    }
  });

  it('distinguishes numbers from texts if both are allowed', () => {
    const services = codecFor<Service>('core/v1.Service');
    const ports = [
      { port: 80, targetPort: -1 },
      { port: 81, targetPort: 'web' },
    ];
    const back = services.fromProtobuf(services.toProtobuf({ spec: { ports } }));
    expect(back.spec?.ports).toEqual(ports);
  });

  it('carries bytes, large numbers and inlined members', () => {
    const secrets = codecFor<Secret>('core/v1.Secret');
    const secret = secrets.fromJson({ data: { a: 'AP8=' }, metadata: { generation: 2 ** 53 - 1 } });
    expect(secrets.fromProtobuf(secrets.toProtobuf(secret))).toMatchObject(secret);
    const volumes = [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }];
    const pod = pods.fromJson({ spec: { volumes } });
    expect(pods.fromProtobuf(pods.toProtobuf(pod)).spec?.volumes).toEqual(volumes);
  });

  it('carries embedded objects as JSON, and reads encoded ones', () => {
    const revisions = codecFor<ControllerRevision>('apps/v1.ControllerRevision');
    const revision = revisions.fromJson({ data: { spec: { a: [1] } }, revision: 3 });
    expect(revisions.fromProtobuf(revisions.toProtobuf(revision)).data).toEqual({
      spec: { a: [1] },
    });
    const events = codecFor<WatchEvent>('meta/v1.WatchEvent');
    const object = wrapUnknown('v1', 'ConfigMap', configMaps.toProtobuf({ data: { a: '1' } }));
    expect(events.fromProtobuf(events.toProtobuf({ type: 'ADDED', object }))).toEqual({
      type: 'ADDED',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: {}, data: { a: '1' } },
    });
  });

  it('rejects types without a protobuf form', () => {
    const error = errorOf(() => codecFor('meta/v1.Table').toProtobuf({}));
    expect(error.message).toBe('meta/v1.Table has no protobuf form');
  });

  it('rejects a length beyond the end', () => {
    expect(errorOf(() => pods.fromProtobuf(Buffer.from('0aff01', 'hex'))).message).toContain('end');
  });
});

describe('envelope', () => {
  it('starts with the magic bytes and round-trips kind and bytes', () => {
    const wrapped = wrapUnknown('apps/v1', 'Deployment', Buffer.from('abc'));
    expect(wrapped.subarray(0, 4).toString('hex')).toBe('6b387300');
    expect(unwrapUnknown(wrapped)).toMatchObject({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      contentType: '',
    });
    expect(unwrapUnknown(wrapped).raw.toString()).toBe('abc');
  });

  it('rejects other input', () => {
    expect(errorOf(() => unwrapUnknown(Buffer.from('{}'))).message).toContain('prefix');
    expect(errorOf(() => unwrapUnknown(Buffer.from('6b38730012ff', 'hex'))).path).toBe('');
  });
});
