import type { ApiObject } from '@orch/api';
import type { Node, Pod } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { admit as admitAny, refusalOf as refusal, type StoredObjects } from '../testing/admit.js';

const account = { metadata: { name: 'default' }, imagePullSecrets: [{ name: 'pull' }] };
const withAccount = { 'core/serviceaccounts/ns/default': account };

const admit = (object: ApiObject, objects: StoredObjects, plural = 'pods') =>
  admitAny(object, { objects, plural });

const newPod = (spec: object = {}): Pod => ({
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'a', image: 'i' }], ...spec },
});

describe('admission of pods', () => {
  it('rejects missing runtime classes, and overhead without a class', async () => {
    expect(await refusal(admit(newPod({ runtimeClassName: 'small' }), withAccount))).toBe(
      'pods "p" is forbidden: pod rejected: RuntimeClass "small" not found',
    );
    expect(await refusal(admit(newPod({ overhead: { cpu: '1' } }), withAccount))).toBe(
      'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    );
  });

  it('sets overhead and scheduling constraints from the runtime class', async () => {
    const toleration = { key: 'small', operator: 'Exists' };
    const objects = {
      ...withAccount,
      'node/runtimeclasses//small': {
        handler: 'h',
        overhead: { podFixed: { cpu: '1' } },
        scheduling: { nodeSelector: { size: 's' }, tolerations: [toleration] },
      },
    };
    const pod = newPod({ runtimeClassName: 'small', nodeSelector: { a: 'b' } });
    await admit(pod, objects);
    expect(pod.spec).toMatchObject({ overhead: { cpu: '1' }, nodeSelector: { a: 'b', size: 's' } });
    expect(pod.spec?.tolerations).toContainEqual(toleration);
    const refused = (spec: object) =>
      refusal(admit(newPod({ runtimeClassName: 'small', ...spec }), objects));
    expect(await refused({ overhead: { cpu: '2' } })).toContain(
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    );
    expect(await refused({ nodeSelector: { size: 'l' } })).toContain(
      'pod rejected: conflict: runtimeClass.scheduling.nodeSelector[size] = s; pod.spec.nodeSelector[size] = l',
    );
  });
  it('sets service account, token, pull secrets, priority and tolerations', async () => {
    const pod = newPod();
    await admit(pod, withAccount);
    expect(pod.spec).toMatchObject({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      imagePullSecrets: [{ name: 'pull' }],
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
      tolerations: [
        { key: 'node.orch.io/not-ready', effect: 'NoExecute', tolerationSeconds: 300 },
        { key: 'node.orch.io/unreachable', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
    });
    expect(pod.spec?.containers?.[0]?.volumeMounts).toEqual([
      {
        name: 'orch-api-access-bbbbb',
        readOnly: true,
        mountPath: '/var/run/secrets/orch.io/serviceaccount',
      },
    ]);
    expect(pod.spec?.volumes?.[0]?.name).toBe('orch-api-access-bbbbb');
  });

  it('mounts no token if the pod or the account opts out', async () => {
    const pod = newPod({ automountServiceAccountToken: false });
    await admit(pod, withAccount);
    expect(pod.spec?.volumes).toBeUndefined();
  });

  it('rejects a pod whose service account is missing', async () => {
    expect(await refusal(admit(newPod(), {}))).toBe(
      'pods "p" is forbidden: error looking up service account ns/default: serviceaccount "default" not found',
    );
  });

  it('sets the priority from the class only', async () => {
    const classes = {
      ...withAccount,
      'scheduling/priorityclasses//high': { metadata: { name: 'high' }, value: 9 },
    };
    const pod = newPod({ priorityClassName: 'high' });
    await admit(pod, classes);
    expect(pod.spec?.priority).toBe(9);
    expect(await refusal(admit(newPod({ priority: 7 }), classes))).toBe(
      'pods "p" is forbidden: the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    );
    expect(await refusal(admit(newPod({ priorityClassName: 'none' }), classes))).toBe(
      'pods "p" is forbidden: no PriorityClass with name none was found',
    );
  });

  it('uses the default class if there is one', async () => {
    const pod = newPod();
    await admit(pod, {
      ...withAccount,
      'scheduling/priorityclasses//usual': {
        metadata: { name: 'usual' },
        value: 5,
        globalDefault: true,
      },
    });
    expect(pod.spec).toMatchObject({ priorityClassName: 'usual', priority: 5 });
  });

  it('rejects secrets that the account does not list', async () => {
    const strict = {
      metadata: {
        name: 'default',
        annotations: { 'orch.io/enforce-mountable-secrets': 'true' },
      },
      secrets: [{ name: 'mine' }],
    };
    const objects = { 'core/serviceaccounts/ns/default': strict };
    await admit(newPod({ volumes: [{ name: 'v', secret: { secretName: 'mine' } }] }), objects);
    expect(
      await refusal(
        admit(newPod({ volumes: [{ name: 'v', secret: { secretName: 'other' } }] }), objects),
      ),
    ).toBe(
      'pods "p" is forbidden: volume with secret.secretName="other" is not allowed because service account default does not reference that secret',
    );
  });

  it('leaves mirror pods unchanged and rejects their secrets', async () => {
    const mirror = newPod({ volumes: [{ name: 'v', secret: { secretName: 's' } }] });
    mirror.metadata!.annotations = { 'orch.io/config.mirror': 'x' };
    expect(await refusal(admit(mirror, withAccount))).toBe(
      'pods "p" is forbidden: a mirror pod may not reference secrets',
    );
  });
});

describe('admission of nodes', () => {
  it('taints a new node as not ready', async () => {
    const node: Node = { metadata: { name: 'n' } };
    await admit(node, {}, 'nodes');
    expect(node.spec?.taints).toEqual([{ key: 'node.orch.io/not-ready', effect: 'NoSchedule' }]);
  });
});

describe('admission of storage', () => {
  it.each([
    ['persistentvolumes', 'orch.io/pv-protection'],
    ['persistentvolumeclaims', 'orch.io/pvc-protection'],
  ])('adds a protection finalizer to %s', async (plural, finalizer) => {
    const object: ApiObject = { metadata: { name: 'x', finalizers: ['a/b'] } };
    await admit(object, {}, plural);
    await admit(object, {}, plural);
    expect(object.metadata?.finalizers).toEqual(['a/b', finalizer]);
  });
});
