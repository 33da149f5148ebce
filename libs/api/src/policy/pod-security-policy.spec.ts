import type { PodSecurityPolicy } from '@orch/types/policy/v1beta1';
import { describe, expect, it } from 'vitest';
import { cells, create, update } from '../testing/write.js';
import { podSecurityPolicy } from './pod-security-policy.js';

const any = { rule: 'RunAsAny' };
const open = { seLinux: any, runAsUser: any, supplementalGroups: any, fsGroup: any };
const like = (pattern: RegExp) => expect.stringMatching(pattern) as string;
const errorsOf = (spec: object, annotations?: object) =>
  create(podSecurityPolicy, { metadata: { name: 'x', annotations }, spec: { ...open, ...spec } })
    .errors;

describe('pod security policies', () => {
  it('get defaults and columns', () => {
    const { object, errors } = create<PodSecurityPolicy>(podSecurityPolicy, {
      spec: {
        ...open,
        volumes: ['secret', '*'],
        allowedCapabilities: ['A', 'B'],
        allowedProcMountTypes: ['Unmasked'],
      },
    });
    expect(errors).toEqual([]);
    expect(object.spec?.allowPrivilegeEscalation).toBe(true);
    expect(object.spec).not.toHaveProperty('allowedProcMountTypes');
    expect(cells(podSecurityPolicy, object)).toEqual({
      Name: 'x',
      Priv: 'false',
      Caps: 'A,B',
      SELinux: 'RunAsAny',
      RunAsUser: 'RunAsAny',
      FsGroup: 'RunAsAny',
      SupGroup: 'RunAsAny',
      ReadOnlyRootFs: false,
      Volumes: 'secret,*',
    });
  });

  it('report missing fields', () => {
    const rules = (field: string, values: string) =>
      `spec.${field}.rule: Unsupported value: "": supported values: ${values}`;
    expect(create(podSecurityPolicy, { spec: {} }).errors).toEqual([
      rules('runAsUser', '"MustRunAs", "MustRunAsNonRoot", "RunAsAny"'),
      rules('seLinux', '"MustRunAs", "RunAsAny"'),
      rules('supplementalGroups', '"MayRunAs", "MustRunAs", "RunAsAny"'),
      rules('fsGroup', '"MayRunAs", "MustRunAs", "RunAsAny"'),
    ]);
  });

  it.each<[object, string[]]>([
    [
      { fsGroup: { rule: 'MustRunAs', ranges: [{ min: 2, max: -1 }] } },
      [
        'spec.fsGroup.ranges[0].max: Invalid value: -1: max cannot be negative',
        'spec.fsGroup.ranges[0].min: Invalid value: 2: min cannot be greater than max',
      ],
    ],
    [
      { runAsUser: { rule: 'MustRunAs', ranges: [{ min: -1, max: 1 }] } },
      ['spec.runAsUser.ranges[0].min: Invalid value: -1: min cannot be negative'],
    ],
    [
      { runAsGroup: { rule: 'RunAsAny', ranges: [{ min: 1, max: 1 }] } },
      [like(/^spec\.runAsGroup\.ranges: Invalid value: .*: Ranges must be empty$/)],
    ],
    [
      { runAsGroup: { rule: 'MayRunAs' } },
      [like(/^spec\.runAsGroup\.ranges: Invalid value: .*: must provide at least one range$/)],
    ],
    [
      { runAsGroup: { rule: 'x' } },
      [
        'spec.runAsGroup.rule: Unsupported value: "x": supported values: "MustRunAs", "RunAsAny", "MayRunAs"',
      ],
    ],
    [
      { volumes: ['x'] },
      [like(/^spec\.volumes: Unsupported value: "x": supported values: "\*", "awsElastic/)],
    ],
    [
      { requiredDropCapabilities: ['A'], allowedCapabilities: ['*'] },
      [
        'requiredDropCapabilities: Invalid value: []string{"A"}: must be empty when all capabilities are allowed by a wildcard',
      ],
    ],
    [
      {
        requiredDropCapabilities: ['A'],
        defaultAddCapabilities: ['A'],
        allowedCapabilities: ['A'],
      },
      [
        'defaultAddCapabilities: Invalid value: "A": capability is listed in defaultAddCapabilities and requiredDropCapabilities',
        'allowedCapabilities: Invalid value: "A": capability is listed in allowedCapabilities and requiredDropCapabilities',
      ],
    ],
    [
      { defaultAllowPrivilegeEscalation: true, allowPrivilegeEscalation: false },
      [
        'spec.defaultAllowPrivilegeEscalation: Invalid value: true: Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true',
      ],
    ],
    [
      { allowedHostPaths: [{ pathPrefix: '/a/../b' }, {}, { pathPrefix: '..' }] },
      [
        'spec.allowedHostPaths[0]: Invalid value: "/a/../b": must not contain \'..\'',
        'spec.allowedHostPaths[1]: Required value: is required',
      ],
    ],
    [
      { allowedFlexVolumes: [{ driver: '' }] },
      [
        'spec.allowedFlexVolumes.allowedFlexVolumes[0].driver: Required value: must specify a driver',
      ],
    ],
    [
      { allowedCSIDrivers: [{ name: 'a_b' }] },
      [like(/^spec\.allowedCSIDrivers\.allowedCSIDriver\[0\]\.name: Invalid value: "a_b"/)],
    ],
    [
      { allowedUnsafeSysctls: ['*', 'kernel.a'], forbiddenSysctls: ['', 'A'] },
      [
        "spec.allowedUnsafeSysctls.items: Forbidden: if '*' is present, must not specify other sysctls",
        'spec.forbiddenSysctls[0]: Invalid value: "": empty sysctl not allowed',
        like(
          /^spec\.forbiddenSysctls\[1\]: Invalid value: "A": must have at most 253 characters and match regex/,
        ),
        'spec.allowedUnsafeSysctls[0]: Invalid value: "*": sysctl overlaps with ',
        'spec.allowedUnsafeSysctls[0]: Invalid value: "*": sysctl overlaps with A',
      ],
    ],
    [
      { runtimeClass: { allowedRuntimeClassNames: ['*', 'a', 'a', 'B'] } },
      [
        'spec.runtimeClass.allowedRuntimeClassNames[2]: Duplicate value: "a"',
        like(/^spec\.runtimeClass\.allowedRuntimeClassNames\[3\]: Invalid value: "B"/),
        like(/: if '\*' is present, must not specify other RuntimeClass names$/),
      ],
    ],
    [
      { runtimeClass: { allowedRuntimeClassNames: ['a'], defaultRuntimeClassName: 'b' } },
      ['spec.runtimeClass.allowedRuntimeClassNames: Required value: default "b" must be allowed'],
    ],
  ])('reject %j', (spec, messages) => {
    expect(errorsOf(spec)).toEqual(messages);
  });

  it.each<[string, string, boolean]>([
    ['kernel.*', 'kernel.msg*', true],
    ['kernel.msgmax', 'kernel.*', true],
    ['kernel.msgmax', 'kernel.msgmax', true],
    ['kernel.*', 'net.*', false],
    ['kernel.a', 'kernel.ab', false],
  ])('detect the overlap of %s and %s', (allowed, forbidden, overlaps) => {
    expect(
      errorsOf({ allowedUnsafeSysctls: [allowed], forbiddenSysctls: [forbidden] }),
    ).toHaveLength(overlaps ? 1 : 0);
  });

  it('validate profiles in annotations', () => {
    const profiles = (domain: string, fallback: string, allowed: string) => ({
      [`${domain}.orch.io/defaultProfileName`]: fallback,
      [`${domain}.orch.io/allowedProfileNames`]: allowed,
    });
    const seccomp = 'seccomp.security.alpha';
    const appArmor = 'apparmor.security.beta';
    expect(errorsOf({}, profiles(seccomp, 'runtime/default', 'localhost/a,*'))).toEqual([]);
    expect(errorsOf({}, profiles(seccomp, '', ''))).toEqual([]);
    expect(errorsOf({}, profiles(seccomp, 'x', 'unconfined,y'))).toEqual([
      like(/defaultProfileName\]: Invalid value: "x": must be a valid seccomp profile$/),
      like(/allowedProfileNames\]: Invalid value: "y": must be a valid seccomp profile$/),
    ]);
    expect(errorsOf({}, profiles(appArmor, 'runtime/default', 'localhost/a'))).toEqual([]);
    expect(errorsOf({}, profiles(appArmor, 'x', 'unconfined,y'))).toEqual([
      like(/defaultProfileName\]: Invalid value: "x": invalid AppArmor profile name: "x"$/),
      like(/allowedProfileNames\]: .*: invalid AppArmor profile name: "y"$/),
    ]);
  });

  it('are mutable and validated again', () => {
    const { object } = create<PodSecurityPolicy>(podSecurityPolicy, { spec: open });
    const { errors } = update(podSecurityPolicy, object, (changed: PodSecurityPolicy) => {
      changed.spec!.runAsUser.rule = 'x';
    });
    expect(errors).toHaveLength(1);
  });
});
