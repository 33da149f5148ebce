import type { Pod, Service } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { type Admitting, admit, refusalOf } from '../testing/admit.js';
import { alwaysDeny } from './always.js';
import { alwaysPullImages } from './always-pull-images.js';
import { antiAffinityTopology } from './anti-affinity-topology.js';
import { denyExternalIps } from './deny-external-ips.js';
import { denySecurityContext } from './deny-security-context.js';
import { extendedResourceToleration } from './extended-resource-toleration.js';
import { namespaceExists } from './namespace-exists.js';
import { podNodeSelector } from './pod-node-selector.js';

const pod = (spec: object = {}): Pod => ({
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'a', image: 'one' }], ...spec },
});
const by = (rule: NonNullable<Admitting['rules']>[number], rest: Admitting = {}): Admitting => ({
  rules: [rule],
  ...rest,
});

it('AlwaysDeny rejects every request', async () => {
  expect(await refusalOf(admit(pod(), by(alwaysDeny)))).toBe(
    'pods "p" is forbidden: admission control is denying all modifications',
  );
});

describe('AlwaysPullImages', () => {
  it('sets the policy of all containers', async () => {
    const object = pod({ initContainers: [{ name: 'i', imagePullPolicy: 'Never' }] });
    await admit(object, by(alwaysPullImages));
    expect(object.spec?.containers?.[0]?.imagePullPolicy).toBe('Always');
    expect(object.spec?.initContainers?.[0]?.imagePullPolicy).toBe('Always');
  });

  it('skips an update that does not change images', async () => {
    const object = pod();
    await admit(object, by(alwaysPullImages, { old: pod() }));
    expect(object).toEqual(pod());
    const other = pod({ containers: [{ name: 'a', image: 'two' }] });
    await admit(other, by(alwaysPullImages, { old: pod() }));
    expect(other.spec?.containers?.[0]?.imagePullPolicy).toBe('Always');
  });
});

it('LimitPodHardAntiAffinityTopology allows the node topology only', async () => {
  const away = (topologyKey: string) =>
    pod({
      affinity: {
        podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] },
      },
    });
  await admit(away('orch.io/hostname'), by(antiAffinityTopology));
  expect(await refusalOf(admit(away('zone'), by(antiAffinityTopology)))).toBe(
    'pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key orch.io/hostname is allowed',
  );
});

it.each<[object, string]>([
  [{ securityContext: { runAsUser: 0 } }, 'pod.Spec.SecurityContext.RunAsUser is forbidden'],
  [{ securityContext: { fsGroup: 1 } }, 'pod.Spec.SecurityContext.FSGroup is forbidden'],
  [
    { containers: [{ name: 'a', securityContext: { seLinuxOptions: {} } }] },
    'SecurityContext.SELinuxOptions is forbidden',
  ],
])('SecurityContextDeny rejects %j', async (spec, message) => {
  await admit(pod({ securityContext: { runAsNonRoot: true } }), by(denySecurityContext));
  expect(await refusalOf(admit(pod(spec), by(denySecurityContext)))).toBe(
    `pods "p" is forbidden: ${message}`,
  );
});

it('DenyServiceExternalIPs rejects new addresses', async () => {
  const service = (...externalIPs: string[]) =>
    ({ metadata: { name: 's' }, spec: { externalIPs } }) as Service;
  const admitting = by(denyExternalIps, { plural: 'services' });
  await admit(service('1.1.1.1'), { ...admitting, old: service('1.1.1.1', '2.2.2.2') });
  expect(await refusalOf(admit(service('1.1.1.1'), admitting))).toBe(
    'services "s" is forbidden: Use of external IPs is denied by admission control',
  );
});

it('ExtendedResourceToleration adds one toleration per requested resource', async () => {
  const object = pod({
    containers: [{ name: 'a', resources: { requests: { cpu: '1', 'a.b/gpu': '1' } } }],
  });
  await admit(object, by(extendedResourceToleration));
  await admit(object, by(extendedResourceToleration));
  expect(object.spec?.tolerations).toEqual([
    { key: 'a.b/gpu', operator: 'Exists', effect: 'NoSchedule' },
  ]);
});

it('NamespaceExists rejects requests in missing namespaces', async () => {
  const objects = { 'core/namespaces//ns': {} };
  await admit(pod(), by(namespaceExists, { objects }));
  await expect(admit(pod(), by(namespaceExists))).rejects.toMatchObject({ code: 404 });
});

describe('PodNodeSelector', () => {
  const selecting = (text: string) =>
    by(podNodeSelector, {
      objects: {
        'core/namespaces//ns': {
          metadata: { annotations: { 'scheduler.alpha.orch.io/node-selector': text } },
        },
      },
    });

  it('adds the node selector of the namespace', async () => {
    const object = pod({ nodeSelector: { disk: 'fast' } });
    await admit(object, selecting('env=test, zone=a'));
    expect(object.spec?.nodeSelector).toEqual({ env: 'test', zone: 'a', disk: 'fast' });
  });

  it.each([
    ['env=test', 'pod node label selector conflicts with its namespace node label selector'],
    ['env', 'invalid selector: [env]'],
  ])('rejects a conflicting selector: %s', async (text, message) => {
    const object = pod({ nodeSelector: { env: 'live' } });
    expect(await refusalOf(admit(object, selecting(text)))).toContain(message);
  });
});
