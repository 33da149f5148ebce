import type { Container, LimitRangeItem, PersistentVolumeClaim, Pod } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { type Admitting, admit, refusalOf } from '../testing/admit.js';
import { limitRanger } from './limit-ranger.js';

const ranged = (...limits: object[]): Admitting => ({
  rules: [limitRanger],
  objects: {
    'core/limitranges/ns/r': { metadata: { name: 'r' }, spec: { limits } },
    'core/limitranges/other/r': {
      spec: { limits: [{ type: 'Container', default: { cpu: '9' } }] },
    },
  },
});

const pod = (...containers: object[]): Pod => ({
  metadata: { name: 'p' },
  spec: {
    containers: containers.map((resources, index) => ({
      name: `c${index}`,
      resources,
    })) as Container[],
  },
});

const asked = (cpu: string): object => ({ requests: { cpu }, limits: { cpu } });

describe('limit range defaults', () => {
  const defaults = {
    type: 'Container',
    default: { cpu: '1', memory: '1Gi' },
    defaultRequest: { cpu: '100m' },
  };

  it('are set on containers without values, with an annotation', async () => {
    const object = pod({}, { limits: { cpu: '2' }, requests: { cpu: '2' } });
    object.spec!.initContainers = [{ name: 'first', image: 'i' }];
    await admit(object, ranged(defaults));
    expect(object.spec?.containers?.map(({ resources }) => resources)).toEqual([
      { requests: { cpu: '100m' }, limits: { cpu: '1', memory: '1Gi' } },
      { requests: { cpu: '2' }, limits: { cpu: '2', memory: '1Gi' } },
    ]);
    expect(object.metadata?.annotations).toEqual({
      'orch.io/limit-ranger':
        'LimitRanger plugin set: cpu request for container c0; cpu, memory limit for container c0; memory limit for container c1; cpu request for init container first; cpu, memory limit for init container first',
    });
  });

  it('are not set on an update', async () => {
    const object = pod({});
    await admit(object, { ...ranged(defaults), old: pod({}) });
    expect(object).toEqual(pod({}));
  });

  it('are not set if all values are present', async () => {
    const object = pod({ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } });
    await admit(object, ranged(defaults));
    expect(object.metadata?.annotations).toBeUndefined();
  });
});

describe('limit ranges reject', () => {
  const container = (bounds: object) => ({ type: 'Container', ...bounds });
  const ofPod = (bounds: object) => ({ type: 'Pod', ...bounds });

  it.each<[string, object, Pod]>([
    [
      'minimum cpu usage per Container is 1.  No request is specified',
      container({ min: { cpu: '1' } }),
      pod({}),
    ],
    [
      'minimum cpu usage per Container is 1, but request is 500m',
      container({ min: { cpu: '1' } }),
      pod(asked('500m')),
    ],
    [
      'maximum cpu usage per Container is 1.  No limit is specified',
      container({ max: { cpu: '1' } }),
      pod({ requests: { cpu: '1' } }),
    ],
    [
      'maximum cpu usage per Container is 1, but limit is 2',
      container({ max: { cpu: '1' } }),
      pod(asked('2')),
    ],
    [
      'cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000',
      container({ maxLimitRequestRatio: { cpu: '2' } }),
      pod({ requests: { cpu: '200m' }, limits: { cpu: '500m' } }),
    ],
    [
      'cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0',
      container({ maxLimitRequestRatio: { cpu: '2' } }),
      pod({ requests: { cpu: '200m' } }),
    ],
    [
      'maximum cpu usage per Pod is 2, but limit is 2700m',
      ofPod({ max: { cpu: '2' } }),
      pod(asked('900m'), asked('900m'), asked('900m')),
    ],
    [
      'maximum cpu usage per Pod is 2.  No limit is specified',
      ofPod({ max: { cpu: '2' } }),
      pod(asked('1'), {}),
    ],
    [
      '[minimum cpu usage per Container is 1, but request is 10m, minimum memory usage per Container is 1Gi.  No request is specified]',
      container({ min: { cpu: '1', memory: '1Gi' } }),
      pod(asked('10m'), asked('10m')),
    ],
  ])('%s', async (message, item, object) => {
    expect(await refusalOf(admit(object, ranged(item)))).toBe(`pods "p" is forbidden: ${message}`);
  });

  it('an init container beyond the limit', async () => {
    const object = pod(asked('1'), asked('1'));
    object.spec!.initContainers = [
      { name: 'i', resources: { requests: { cpu: '3' }, limits: { cpu: '3' } } },
    ];
    const item = ofPod({ max: { cpu: '2' } });
    expect(await refusalOf(admit(object, ranged(item)))).toContain('but limit is 3');
    object.spec!.initContainers = [
      { name: 'i', resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } },
    ];
    await admit(object, ranged(item));
  });

  it('a pod without a name, naming its prefix', async () => {
    const object = pod({});
    object.metadata = { generateName: 'p-' };
    expect(await refusalOf(admit(object, ranged(container({ min: { cpu: '1' } }))))).toContain(
      'pods "p-" is forbidden',
    );
  });

  const claim = (storage: string): PersistentVolumeClaim => ({
    metadata: { name: 'c' },
    spec: { resources: { requests: { storage } } },
  });
  const claims = ranged({
    type: 'PersistentVolumeClaim',
    min: { storage: '1Gi' },
    max: { storage: '2Gi' },
  } as LimitRangeItem);

  it('claims at creation and expansion, except during deletion', async () => {
    const plural = 'persistentvolumeclaims';
    await admit(claim('1Gi'), { ...claims, plural });
    expect(await refusalOf(admit(claim('1Mi'), { ...claims, plural }))).toBe(
      'persistentvolumeclaims "c" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi',
    );
    const old = claim('1Gi');
    expect(await refusalOf(admit(claim('3Gi'), { ...claims, plural, old }))).toContain(
      'maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi',
    );
    old.metadata!.deletionTimestamp = '2026-11-22T00:00:00Z';
    await admit(claim('3Gi'), { ...claims, plural, old });
  });
});
