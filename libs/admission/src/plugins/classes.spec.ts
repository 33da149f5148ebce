import type { PersistentVolumeClaim } from '@orch/types/core/v1';
import type { Ingress } from '@orch/types/networking/v1';
import { describe, expect, it } from 'vitest';
import { type Admitting, admit, refusalOf } from '../testing/admit.js';
import { claimResize } from './claim-resize.js';
import { defaultIngressClass, defaultStorageClass } from './default-classes.js';

const marked = (name: string, key: string) => ({
  metadata: { name, annotations: { [key]: 'true' } },
});
const storageKey = 'storageclass.orch.io/is-default-class';
const ingressKey = 'ingressclass.orch.io/is-default-class';

describe('a claim without a class', () => {
  const admitting = (objects: Admitting['objects']): Admitting => ({
    rules: [defaultStorageClass],
    plural: 'persistentvolumeclaims',
    objects,
  });
  const oneClass = {
    'storage/storageclasses/a': marked('a', storageKey),
    'storage/storageclasses/b': marked('b', 'x'),
  };

  it('gets the default class', async () => {
    const claim: PersistentVolumeClaim = { metadata: { name: 'c' }, spec: {} };
    await admit(claim, admitting(oneClass));
    expect(claim.spec?.storageClassName).toBe('a');
  });

  it.each([
    { metadata: { name: 'c' }, spec: { storageClassName: '' } },
    {
      metadata: { name: 'c', annotations: { 'volume.beta.orch.io/storage-class': 'b' } },
      spec: {},
    },
  ])('excludes a claim with %j', async (claim: PersistentVolumeClaim) => {
    const before = structuredClone(claim);
    await admit(claim, admitting(oneClass));
    expect(claim).toEqual(before);
  });

  it('is rejected if there are several defaults', async () => {
    const two = { ...oneClass, 'storage/storageclasses/c': marked('c', storageKey) };
    const claim = { metadata: { name: 'c' }, spec: {} };
    expect(await refusalOf(admit(claim, admitting(two)))).toBe(
      'persistentvolumeclaims "c" is forbidden: Internal error occurred: 2 default StorageClasses were found',
    );
  });
});

describe('an ingress without a class', () => {
  const objects = { 'networking/ingressclasses/a': marked('a', ingressKey) };
  const admitting: Admitting = {
    rules: [defaultIngressClass],
    groupHead: 'networking',
    plural: 'ingresses',
    objects,
  };

  it('gets the default class', async () => {
    const ingress: Ingress = { metadata: { name: 'i' }, spec: {} };
    await admit(ingress, admitting);
    expect(ingress.spec?.ingressClassName).toBe('a');
  });

  it('excludes an ingress with the annotation', async () => {
    const ingress: Ingress = {
      metadata: { name: 'i', annotations: { 'orch.io/ingress.class': 'x' } },
    };
    await admit(ingress, admitting);
    expect(ingress.spec).toBeUndefined();
  });

  it('is rejected if there are several defaults', async () => {
    const two = { ...objects, 'networking/ingressclasses/b': marked('b', ingressKey) };
    expect(
      await refusalOf(admit({ metadata: { name: 'i' } }, { ...admitting, objects: two })),
    ).toContain('2 default IngressClasses were found, only 1 allowed');
  });
});

describe('a claim that grows', () => {
  const claim = (storage: string, phase: string, storageClassName = 'a'): PersistentVolumeClaim =>
    ({
      metadata: { name: 'c' },
      spec: { storageClassName, resources: { requests: { storage } } },
      status: { phase },
    }) as PersistentVolumeClaim;
  const grow = (phase: string, allowVolumeExpansion: boolean, storage = '2Gi') =>
    admit(claim(storage, phase), {
      rules: [claimResize],
      plural: 'persistentvolumeclaims',
      old: claim('1Gi', phase),
      objects: { 'storage/storageclasses//a': { allowVolumeExpansion } },
    });

  it('is allowed if it is bound to an expandable volume', async () => {
    await grow('Bound', true);
    await grow('Pending', false, '1Gi');
  });

  it('is rejected otherwise', async () => {
    expect(await refusalOf(grow('Pending', true))).toBe(
      'persistentvolumeclaims "c" is forbidden: Only bound persistent volume claims can be expanded',
    );
    expect(await refusalOf(grow('Bound', false))).toContain(
      'only dynamically provisioned pvc can be resized',
    );
  });
});
