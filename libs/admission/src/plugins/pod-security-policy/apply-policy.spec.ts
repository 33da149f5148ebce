import { appArmorPrefix, podSeccompKey } from '@orch/api';
import { fieldErrorMessage } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Container, Pod, PodSpec } from '@orch/types/core/v1';
import type { PodSecurityPolicySpec } from '@orch/types/policy/v1beta1';
import { describe, expect, it } from 'vitest';
import { applyPolicy } from './apply-policy.js';

const anyId = { rule: 'RunAsAny' };
const open: PodSecurityPolicySpec = {
  ...{ seLinux: anyId, runAsUser: anyId, supplementalGroups: anyId, fsGroup: anyId },
  volumes: ['*'],
};

const podWith = (spec: PodSpec = {}, container: Partial<Container> = {}): Pod => ({
  metadata: { name: 'p' },
  spec: { ...spec, containers: [{ name: 'a', ...container }] },
});

const apply = (
  spec: Partial<PodSecurityPolicySpec>,
  pod: Pod,
  annotations: Record<string, string> = {},
) => applyPolicy({ spec: { ...open, ...spec }, annotations }, pod);

const errorsOf = (...given: Parameters<typeof apply>) =>
  apply(...given).errors.map(fieldErrorMessage);

const ids = (rule: string) => ({ rule, ranges: [{ min: 5, max: 9 }] });
const labels = { rule: 'MustRunAs', seLinuxOptions: { level: 's0:c1,c2', user: 'u' } };
const context = 'spec.containers[0].securityContext';

describe('a pod security policy', () => {
  it('changes nothing and allows everything harmless if it is open', () => {
    const pod = podWith({ volumes: [{ name: 'v', emptyDir: {} }] });
    expect(apply({}, pod)).toEqual({ pod, errors: [] });
  });

  it.each<[string, Partial<PodSecurityPolicySpec>, PodSpec, Partial<Container>, string[]]>([
    [
      'users',
      { runAsUser: ids('MustRunAs') },
      {},
      { securityContext: { runAsUser: 1 } },
      [`${context}.runAsUser: Invalid value: 1: must be in the ranges: [{5 9}]`],
    ],
    [
      'root',
      { runAsUser: { rule: 'MustRunAsNonRoot' } },
      { securityContext: { runAsUser: 0 } },
      {},
      [`${context}.runAsUser: Invalid value: 0: running with the root UID is forbidden`],
    ],
    [
      'images with root',
      { runAsUser: { rule: 'MustRunAsNonRoot' } },
      {},
      { securityContext: { runAsNonRoot: false } },
      [`${context}.runAsNonRoot: Invalid value: false: must be true`],
    ],
    [
      'groups of containers',
      { runAsGroup: ids('MayRunAs') },
      {},
      { securityContext: { runAsGroup: 1 } },
      [`${context}: Invalid value: []int64{1}: group 1 must be in the ranges: [{5 9}]`],
    ],
    [
      'groups of volumes',
      { fsGroup: ids('MustRunAs'), supplementalGroups: ids('MayRunAs') },
      { securityContext: { fsGroup: 1, supplementalGroups: [7, 2] } },
      {},
      [
        'spec.securityContext.fsGroup: Invalid value: []int64{1}: group 1 must be in the ranges: [{5 9}]',
        'spec.securityContext.supplementalGroups: Invalid value: []int64{7, 2}: group 2 must be in the ranges: [{5 9}]',
      ],
    ],
    [
      'labels',
      { seLinux: labels },
      { securityContext: { seLinuxOptions: { level: 's0:c2,c1', user: 'u' } } },
      { securityContext: { seLinuxOptions: { level: 's0:c1', user: 'v' } } },
      [
        `${context}.seLinuxOptions.level: Invalid value: "s0:c1": must be s0:c1,c2`,
        `${context}.seLinuxOptions.user: Invalid value: "v": must be u`,
      ],
    ],
    [
      'namespaces of the host',
      { hostPID: true },
      { hostNetwork: true, hostPID: true, hostIPC: true },
      {},
      [
        'spec.securityContext.hostNetwork: Invalid value: true: Host network is not allowed to be used',
        'spec.securityContext.hostIPC: Invalid value: true: Host IPC is not allowed to be used',
      ],
    ],
    [
      'ports of the host',
      {
        hostPorts: [
          { min: 80, max: 80 },
          { min: 8000, max: 8080 },
        ],
      },
      {},
      {
        ports: [
          { hostPort: 8080, containerPort: 1 },
          { hostPort: 81, containerPort: 2 },
        ],
      },
      [
        'spec.containers[0].hostPort: Invalid value: 81: Host port 81 is not allowed to be used. Allowed ports: [80,8000-8080]',
      ],
    ],
    [
      'kernel parameters',
      { forbiddenSysctls: ['kernel.shm_*'], allowedUnsafeSysctls: ['net.core.*'] },
      {
        securityContext: {
          sysctls: [
            { name: 'kernel.shm_rmid_forced', value: '1' },
            { name: 'net.core.somaxconn', value: '1' },
            { name: 'net.ipv4.tcp_syncookies', value: '1' },
            { name: 'vm.swappiness', value: '1' },
          ],
        },
      },
      {},
      [
        'pod.spec.securityContext.sysctls[0]: Forbidden: sysctl "kernel.shm_rmid_forced" is not allowed',
        'pod.spec.securityContext.sysctls[3]: Forbidden: unsafe sysctl "vm.swappiness" is not allowed',
      ],
    ],
    [
      'kinds of volumes',
      { volumes: ['emptyDir'] },
      {
        volumes: [
          { name: 'a', emptyDir: {} },
          { name: 'b', secret: { secretName: 's' } },
        ],
      },
      {},
      ['spec.volumes[1]: Invalid value: "secret": secret volumes are not allowed to be used'],
    ],
    [
      'paths of the host',
      { allowedHostPaths: [{ pathPrefix: '/etc/', readOnly: true }] },
      {
        volumes: [
          { name: 'a', hostPath: { path: '/etcd' } },
          { name: 'b', hostPath: { path: '/etc/x' } },
        ],
      },
      { volumeMounts: [{ name: 'b', mountPath: '/b' }] },
      [
        'spec.volumes[0].hostPath.pathPrefix: Invalid value: "/etcd": is not allowed to be used',
        'spec.containers[0].volumeMounts[0].readOnly: Invalid value: false: must be read-only',
      ],
    ],
    [
      'drivers',
      { allowedFlexVolumes: [{ driver: 'x' }], allowedCSIDrivers: [{ name: 'y' }] },
      {
        volumes: [
          { name: 'a', flexVolume: { driver: 'z' } },
          { name: 'b', csi: { driver: 'z' } },
        ],
      },
      {},
      [
        'spec.volumes[0].driver: Invalid value: "z": Flexvolume driver is not allowed to be used',
        'spec.volumes[1].csi.driver: Invalid value: "z": Inline CSI driver is not allowed to be used',
      ],
    ],
    [
      'runtime classes',
      { runtimeClass: { allowedRuntimeClassNames: ['a'] } },
      { runtimeClassName: 'b' },
      {},
      ['spec.runtimeClassName: Invalid value: "b"'],
    ],
    [
      'privileges',
      { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      {},
      {
        securityContext: {
          ...{ privileged: true, allowPrivilegeEscalation: true },
          ...{ readOnlyRootFilesystem: false, procMount: 'Unmasked' },
        },
      },
      [
        `${context}.privileged: Invalid value: true: Privileged containers are not allowed`,
        `${context}.procMount: Invalid value: "Unmasked": ProcMountType is not allowed`,
        `${context}.readOnlyRootFilesystem: Invalid value: false: ReadOnlyRootFilesystem must be set to true`,
        `${context}.allowPrivilegeEscalation: Invalid value: true: Allowing privilege escalation for containers is not allowed`,
      ],
    ],
    [
      'capabilities',
      { allowedCapabilities: ['A'] },
      {},
      { securityContext: { capabilities: { add: ['A', 'B'] } } },
      [`${context}.capabilities.add: Invalid value: "B": capability may not be added`],
    ],
  ])('rejects %s that it does not allow', (_title, policy, spec, container, errors) => {
    expect(errorsOf(policy, podWith(spec, container))).toEqual(errors);
  });

  it('checks init and ephemeral containers', () => {
    const privileged = { name: 'x', securityContext: { privileged: true } };
    const pod = podWith({ initContainers: [privileged], ephemeralContainers: [privileged] });
    expect(errorsOf({}, pod)).toEqual([
      'spec.initContainers[0].securityContext.privileged: Invalid value: true: Privileged containers are not allowed',
      'spec.ephemeralContainers[0].securityContext.privileged: Invalid value: true: Privileged containers are not allowed',
    ]);
  });

  it('allows token volumes where it allows secrets', () => {
    const volume = (audience?: string) => ({
      name: 't',
      projected: { sources: [{ serviceAccountToken: { path: 'token', audience } }] },
    });
    const policy = { volumes: ['secret'] };
    expect(errorsOf(policy, podWith({ volumes: [volume()] }))).toEqual([]);
    expect(errorsOf(policy, podWith({ volumes: [volume('vault')] }))).toHaveLength(1);
  });

  it('fills in the fields that it requires, so that the pod is valid', () => {
    const policy: Partial<PodSecurityPolicySpec> = {
      ...{ runAsUser: ids('MustRunAs'), runAsGroup: ids('MustRunAs'), fsGroup: ids('MustRunAs') },
      ...{ supplementalGroups: ids('MustRunAs'), seLinux: labels },
      ...{ requiredDropCapabilities: ['D'], defaultAddCapabilities: ['C'] },
      ...{ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
      runtimeClass: { allowedRuntimeClassNames: ['r'], defaultRuntimeClassName: 'r' },
    };
    const { pod, errors } = apply(policy, podWith());
    expect(errors).toEqual([]);
    const { seLinuxOptions } = labels;
    expect(pod.spec).toEqual({
      securityContext: { fsGroup: 5, supplementalGroups: [5], seLinuxOptions },
      runtimeClassName: 'r',
      containers: [
        {
          name: 'a',
          securityContext: {
            ...{ runAsUser: 5, runAsGroup: 5 },
            capabilities: { add: ['C'], drop: ['D'] },
            ...{ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
          },
        },
      ],
    });
    expect(apply(policy, pod).pod).toEqual(pod);
  });

  it('requires a user other than root where it must not be root', () => {
    const { pod } = apply({ runAsUser: { rule: 'MustRunAsNonRoot' } }, podWith());
    expect(pod.spec?.containers?.[0]?.securityContext).toEqual({ runAsNonRoot: true });
  });

  it('applies the profiles of its annotations', () => {
    const annotations = {
      [dialect().key('defaultProfileName', 'seccomp.security.alpha')]: 'docker/default',
      [dialect().key('allowedProfileNames', 'seccomp.security.alpha')]: 'docker/default',
      [dialect().key('defaultProfileName', 'apparmor.security.beta')]: 'runtime/default',
      [dialect().key('allowedProfileNames', 'apparmor.security.beta')]: 'runtime/default',
    };
    const { pod, errors } = apply({}, podWith(), annotations);
    expect(errors).toEqual([]);
    expect(pod.metadata?.annotations).toEqual({
      [podSeccompKey()]: 'runtime/default',
      [`${appArmorPrefix()}a`]: 'runtime/default',
    });
    const other = podWith({ securityContext: { seccompProfile: { type: 'Unconfined' } } });
    other.metadata = { annotations: { [`${appArmorPrefix()}a`]: 'unconfined' } };
    const texts = errorsOf({}, other, annotations).join('\n');
    expect(texts).toContain(
      'Forbidden: unconfined is not an allowed seccomp profile. Valid values are docker/default',
    );
    expect(texts).toContain(
      'Forbidden: unconfined is not an allowed profile. Allowed values: "runtime/default"',
    );
    expect(errorsOf({}, other)[0]).toContain('Forbidden: seccomp may not be set');
  });
});
