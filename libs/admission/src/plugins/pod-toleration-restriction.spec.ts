import { dialect } from '@orch/component';
import type { Pod, Toleration } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { admit, refusalOf } from '../testing/admit.js';
import { podTolerationRule } from './pod-toleration-restriction.js';

const exists = (key: string): Toleration => ({ key, operator: 'Exists', effect: 'NoSchedule' });
const podWith = (...tolerations: Toleration[]): Pod => ({
  metadata: { name: 'p', namespace: 'ns' },
  spec: { containers: [{ name: 'a' }], tolerations },
});
const namespace = (annotations: Record<string, unknown>) => ({
  'core/namespaces//ns': {
    metadata: {
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([name, value]) => [
          dialect().key(name, 'scheduler.alpha'),
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      ),
    },
  },
});
const rules = [podTolerationRule({ defaults: [exists('cluster')], allowed: [exists('cluster')] })];

describe('PodTolerationRestriction', () => {
  it('adds the tolerations of the namespace, or of the cluster', async () => {
    const pod = podWith();
    await admit(pod, { rules });
    expect(pod.spec?.tolerations).toEqual([exists('cluster')]);
    const other = podWith(exists('own'));
    const objects = namespace({ defaultTolerations: [exists('ns')], tolerationsWhitelist: '' });
    await admit(other, { rules, objects });
    expect(other.spec?.tolerations).toEqual([exists('ns'), exists('own')]);
  });

  it('merges tolerations that another one covers', async () => {
    const objects = namespace({
      defaultTolerations: [{ key: 'a', operator: 'Exists' }],
      tolerationsWhitelist: '',
    });
    const pod = podWith({ key: 'a', operator: 'Equal', value: 'x', effect: 'NoSchedule' });
    await admit(pod, { rules, objects });
    expect(pod.spec?.tolerations).toEqual([{ key: 'a', operator: 'Exists' }]);
  });

  it('lets pods with requests tolerate nodes with little memory', async () => {
    const pod = podWith();
    pod.spec!.containers = [{ name: 'a', resources: { requests: { cpu: '1' } } }];
    const objects = namespace({ defaultTolerations: '', tolerationsWhitelist: '' });
    await admit(pod, { rules, objects });
    expect(pod.spec?.tolerations).toEqual([exists(dialect().key('memory-pressure', 'node'))]);
  });

  it('rejects tolerations outside the allowed ones, in updates as well', async () => {
    const conflict = (scope: string) =>
      `pods "p" is forbidden: pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`;
    expect(await refusalOf(admit(podWith(exists('x')), { rules }))).toBe(conflict('cluster'));
    const objects = namespace({ tolerationsWhitelist: [exists('y')], defaultTolerations: '' });
    const updated = admit(podWith(exists('x')), { rules, objects, old: podWith() });
    expect(await refusalOf(updated)).toBe(conflict('namespace'));
    await expect(admit(podWith(exists('y')), { rules, objects })).resolves.toBeUndefined();
  });

  it.each([
    ['longer', 30, true],
    ['shorter', 5, false],
  ])('compares times: an allowed time that is %s', async (_title, allowedS, isAllowed) => {
    const toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute' };
    const objects = namespace({
      defaultTolerations: '',
      tolerationsWhitelist: [{ ...toleration, tolerationSeconds: allowedS }],
    });
    const run = admit(podWith({ ...toleration, tolerationSeconds: 10 }), { rules, objects });
    if (isAllowed) await expect(run).resolves.toBeUndefined();
    else expect(await refusalOf(run)).toContain('whitelist');
  });

  it('rejects pods if the annotation of the namespace is malformed', async () => {
    const objects = namespace({ defaultTolerations: '{' });
    expect(await refusalOf(admit(podWith(), { rules, objects }))).toContain(
      'is not a list of tolerations',
    );
  });
});
