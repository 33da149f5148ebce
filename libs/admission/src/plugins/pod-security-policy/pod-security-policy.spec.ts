import { dialect } from '@orch/component';
import { authenticated } from '@orch/security';
import type { Pod } from '@orch/types/core/v1';
import type { PodSecurityPolicySpec } from '@orch/types/policy/v1beta1';
import { describe, expect, it } from 'vitest';
import { type Admitting, admit, refusalOf } from '../../testing/admit.js';
import { podSecurityPolicy } from './pod-security-policy.js';

const anyId = { rule: 'RunAsAny' };
const policy = (name: string, spec: Partial<PodSecurityPolicySpec> = {}) => ({
  [`policy/podsecuritypolicies//${name}`]: {
    metadata: { name },
    spec: {
      ...{ seLinux: anyId, runAsUser: anyId, supplementalGroups: anyId, fsGroup: anyId },
      ...{ volumes: ['*'], ...spec },
    },
  },
});
const readOnly = { readOnlyRootFilesystem: true };
const annotation = () => dialect().key('psp');
const user = authenticated('ann', '', []);

const podWith = (securityContext: object = {}): Pod => ({
  metadata: { name: 'p', namespace: 'ns' },
  spec: { serviceAccountName: 'sa', containers: [{ name: 'a', securityContext }] },
});
const run = (pod: Pod, admitting: Admitting) =>
  admit(pod, { rules: [podSecurityPolicy], user, ...admitting });

/** The policy that the pod is annotated with. */
async function chosen(pod: Pod, admitting: Admitting): Promise<string | undefined> {
  await run(pod, admitting);
  return pod.metadata?.annotations?.[annotation()];
}

describe('PodSecurityPolicy', () => {
  it('prefers a policy that changes nothing, then the first by name', async () => {
    const objects = { ...policy('c'), ...policy('b'), ...policy('a', readOnly) };
    const pod = podWith();
    expect(await chosen(pod, { objects })).toBe('b');
    expect(pod.spec?.containers?.[0]?.securityContext).toEqual({});
  });

  it('changes the pod as the first allowing policy says if all change it', async () => {
    const objects = { ...policy('b', readOnly), ...policy('a', readOnly) };
    const pod = podWith();
    expect(await chosen(pod, { objects })).toBe('a');
    expect(pod.spec?.containers?.[0]?.securityContext).toEqual(readOnly);
  });

  it('uses the policies of the user and of the service account', async () => {
    const objects = { ...policy('a'), ...policy('b'), ...policy('c') };
    const account = 'system:serviceaccount:ns:sa';
    const may = (who: string, name: string, groupHead = 'policy'): Admitting => ({
      objects,
      allowsUser: (permission, { name: by }) =>
        permission.verb === 'use' &&
        permission.namespace === 'ns' &&
        permission.groupHead === groupHead &&
        permission.name === name &&
        by === who,
    });
    expect(await chosen(podWith(), may(account, 'b'))).toBe('b');
    expect(await chosen(podWith(), may('ann', 'c'))).toBe('c');
    expect(await chosen(podWith(), may('ann', 'c', 'extensions'))).toBe('c');
    expect(await refusalOf(run(podWith(), may('bob', 'c')))).toBe(
      'pods "p" is forbidden: PodSecurityPolicy: unable to admit pod: []',
    );
  });

  it('reports the reasons of the policies that could be used', async () => {
    const objects = { ...policy('a'), ...policy('b', { volumes: [] }) };
    const pod = podWith({ privileged: true });
    const text =
      'pods "p" is forbidden: PodSecurityPolicy: unable to admit pod: [spec.containers[0].securityContext.privileged: Invalid value: true: Privileged containers are not allowed]';
    const allowsUser: Admitting['allowsUser'] = ({ name }) => name === 'a';
    expect(await refusalOf(run(pod, { objects, allowsUser }))).toBe(text);
  });

  it('rejects pods if there are no policies', async () => {
    expect(await refusalOf(run(podWith(), {}))).toContain(
      'PodSecurityPolicy: no providers available to validate pod request',
    );
  });

  it('validates updates without changing the pod', async () => {
    const old = podWith();
    const unchanged = podWith();
    expect(await chosen(unchanged, { old, objects: policy('a') })).toBeUndefined();
    const run1 = run(podWith(), { old, objects: policy('a', readOnly) });
    expect(await refusalOf(run1)).toContain('PodSecurityPolicy: unable to validate pod: []');
  });

  it('validates ephemeral containers, but not statuses and the garbage collector', async () => {
    const objects = policy('a');
    const old = podWith();
    const debugged = podWith();
    debugged.spec!.ephemeralContainers = [{ name: 'e', securityContext: { privileged: true } }];
    const subresource = 'ephemeralcontainers';
    expect(await refusalOf(run(debugged, { objects, old, subresource }))).toContain(
      'spec.ephemeralContainers[0].securityContext.privileged',
    );
    const status: Admitting = { objects, old, subresource: 'status' };
    await expect(run(debugged, status)).resolves.toBeUndefined();
    const bad = podWith({ privileged: true });
    const released = { ...bad, metadata: { ...bad.metadata, finalizers: ['a/b'] } };
    await expect(run(released, { objects, old: bad })).resolves.toBeUndefined();
  });
});
