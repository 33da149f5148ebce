import type { Pod, PodSpec } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { cells, create, requestContext, update } from '../../testing/write.js';
import { pod } from './pod.js';
import { defaultPullPolicy } from './pod-defaults.js';

const container = { name: 'a', image: 'i' };
const createPod = (spec: object, metadata: object = {}) =>
  create<Pod>(pod, { metadata: { name: 'x', ...metadata }, spec });
const errorsOf = (spec: object) => createPod(spec).errors;
const withContainer = (fields: object) => errorsOf({ containers: [{ ...container, ...fields }] });

describe('pods at creation', () => {
  it('get defaults', () => {
    const { object, errors } = createPod({
      serviceAccount: 'old',
      hostNetwork: true,
      volumes: [{ name: 'v' }],
      containers: [
        {
          ...container,
          ports: [{ containerPort: 80 }],
          resources: { limits: { cpu: '1', memory: '1Gi' } },
        },
      ],
    });
    expect(errors).toEqual([]);
    expect(object.spec).toMatchObject({
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      terminationGracePeriodSeconds: 30,
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
      serviceAccountName: 'old',
      securityContext: {},
      volumes: [{ name: 'v', emptyDir: {} }],
    });
    expect(object.spec?.containers?.[0]).toMatchObject({
      imagePullPolicy: 'Always',
      ports: [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }],
      resources: { requests: { cpu: '1', memory: '1Gi' } },
    });
    expect(object.status).toEqual({ phase: 'Pending', qosClass: 'Guaranteed' });
  });

  it('drop the status and fields of disabled features', () => {
    const { object } = create<Pod>(pod, {
      spec: {
        containers: [{ ...container, securityContext: { procMount: 'Unmasked' } }],
        ephemeralContainers: [{ name: 'e', image: 'i' }],
      },
      status: { phase: 'Running', podIP: '192.0.2.9' },
    });
    expect(object.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    expect(object.spec?.ephemeralContainers).toBeUndefined();
    expect(object.spec?.containers?.[0]?.securityContext?.procMount).toBe('Default');
  });

  it('synchronise seccomp fields and annotations', () => {
    const { object } = createPod(
      { containers: [container], securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
      { annotations: { 'container.seccomp.security.alpha.orch.io/a': 'localhost/p.json' } },
    );
    expect(object.metadata?.annotations).toMatchObject({
      'seccomp.security.alpha.orch.io/pod': 'runtime/default',
    });
    expect(object.spec?.containers?.[0]?.securityContext?.seccompProfile).toEqual({
      type: 'Localhost',
      localhostProfile: 'p.json',
    });
  });

  it.each([
    ['i', 'Always'],
    ['i:latest', 'Always'],
    ['registry.example:5000/team/app:1', 'IfNotPresent'],
    ['registry.example:5000/team/app', 'Always'],
    [`i@sha256:${'a'.repeat(64)}`, 'IfNotPresent'],
    ['Not An Image', 'IfNotPresent'],
  ])('pull %s by %s', (image, policy) => {
    expect(defaultPullPolicy(image)).toBe(policy);
  });
});

describe('rules of pods', () => {
  it.each<[string, object, string[]]>([
    ['containers', {}, ['spec.containers: Required value']],
    [
      'unique names',
      { containers: [container, container] },
      ['spec.containers[1].name: Duplicate value: "a"'],
    ],
    [
      'host ports',
      {
        containers: [
          { ...container, ports: [{ containerPort: 1, hostPort: 5 }] },
          { name: 'b', image: 'i', ports: [{ containerPort: 2, hostPort: 5 }] },
        ],
      },
      ['spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//5"'],
    ],
    [
      'init containers',
      {
        containers: [container],
        initContainers: [{ name: 'i', image: 'i', livenessProbe: { exec: { command: ['x'] } } }],
      },
      [expect.stringContaining('must not be set for init containers') as string],
    ],
    [
      'one volume source',
      { containers: [container], volumes: [{ name: 'v', emptyDir: {}, configMap: { name: 'c' } }] },
      ['spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'restart policy',
      { containers: [container], restartPolicy: 'x' },
      [
        'spec.restartPolicy: Unsupported value: "x": supported values: "Always", "OnFailure", "Never"',
      ],
    ],
    [
      'tolerations',
      { containers: [container], tolerations: [{ operator: 'Equal' }] },
      [
        'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ],
    ],
    [
      'spread',
      { containers: [container], topologySpreadConstraints: [{ maxSkew: 0 }] },
      [
        'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
        'spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty',
        'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"',
      ],
    ],
    [
      'dns',
      { containers: [container], dnsPolicy: 'None' },
      ['spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
    ],
  ])('%s', (_, spec, messages) => {
    expect(errorsOf(spec)).toEqual(messages);
  });

  it.each<[string, object, string]>([
    [
      'image',
      { image: ' i' },
      'image: Invalid value: " i": must not have leading or trailing whitespace',
    ],
    [
      'mount',
      { volumeMounts: [{ name: 'v', mountPath: '/v' }] },
      'volumeMounts[0].name: Not found: "v"',
    ],
    ['probe', { livenessProbe: {} }, 'livenessProbe: Required value: must specify a handler type'],
    [
      'success of liveness',
      { livenessProbe: { exec: { command: ['x'] }, successThreshold: 2 } },
      'livenessProbe.successThreshold: Invalid value: 2: must be 1',
    ],
    [
      'variable',
      { env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
      'env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
    ],
    [
      'field',
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.nope' } } }] },
      'env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.nope": error converting fieldPath: field label not supported: spec.nope',
    ],
    [
      'request above limit',
      { resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } },
      'resources.requests: Invalid value: "2": must be less than or equal to cpu limit',
    ],
    [
      'extended request without limit',
      { resources: { requests: { 'example.com/g': '1' } } },
      'resources.limits: Required value: Limit must be set for non overcommitable resources',
    ],
    [
      'user',
      { securityContext: { runAsUser: -1 } },
      'securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    ],
  ])('of a container: %s', (_, fields, message) => {
    expect(withContainer(fields)).toEqual([`spec.containers[0].${message}`]);
  });

  it('report duplicate names', () => {
    expect(errorsOf({ containers: [container, container] })).toEqual([
      'spec.containers[1].name: Duplicate value: "a"',
    ]);
    const twice = errorsOf({ containers: [container], initContainers: [container] });
    expect(twice).toEqual(['spec.initContainers[0].name: Duplicate value: "a"']);
  });

  it('report duplicate spread constraints at the earlier one', () => {
    const constraint = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
    expect(
      errorsOf({ containers: [container], topologySpreadConstraints: [constraint, constraint] }),
    ).toEqual([
      'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"',
    ]);
  });

  it('validate deprecated annotations', () => {
    const key = 'scheduler.alpha.orch.io/tolerations';
    const annotated = (annotations: object) =>
      createPod({ containers: [container] }, { annotations }).errors;
    expect(annotated({ [key]: '[{"effect":"x","key":"a","operator":"Exists"}]' })).toEqual([
      `metadata.annotations.${key}[0].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
    ]);
    expect(annotated({ [key]: 'no' })[0]).toContain(
      `metadata.annotations: Invalid value: "${key}"`,
    );
    expect(annotated({ 'seccomp.security.alpha.orch.io/pod': 'x' })).toContain(
      'metadata.annotations.seccomp.security.alpha.orch.io/pod: Invalid value: "x": must be a valid seccomp profile',
    );
  });

  it('require whole huge pages of a valid size', () => {
    const messages = withContainer({ resources: { limits: { cpu: '1', 'hugepages-x': '1' } } });
    expect(messages[0]).toBe(
      'spec.containers[0].resources.limits[hugepages-x]: Invalid value: "1": 1 is not positive integer multiple of hugepages-x',
    );
  });

  it('accept a container with all fields', () => {
    expect(
      errorsOf({
        volumes: [
          { name: 'c', configMap: { name: 'cm', items: [{ key: 'k', path: 'p' }] } },
          {
            name: 'd',
            downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] },
          },
        ],
        containers: [
          {
            ...container,
            env: [
              { name: 'L', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
              {
                name: 'C',
                valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } },
              },
            ],
            volumeMounts: [
              { name: 'c', mountPath: '/c' },
              { name: 'd', mountPath: '/d' },
            ],
            readinessProbe: { httpGet: { port: 'web' } },
          },
        ],
      }),
    ).toEqual([]);
  });
});

describe('pods at update', () => {
  const stored = createPod({ containers: [container], activeDeadlineSeconds: 100 }).object;
  const change = (edit: (spec: PodSpec) => void) =>
    update<Pod>(pod, stored, (object) => edit(object.spec!)).errors;

  it('allow changes of images, tolerations and a shorter deadline', () => {
    expect(
      change((spec) => {
        spec.containers![0]!.image = 'j';
        spec.activeDeadlineSeconds = 50;
        spec.tolerations = [{ key: 'k', operator: 'Exists' }];
      }),
    ).toEqual([]);
  });
  it('reject all other changes', () => {
    const [message] = change((spec) => {
      spec.hostname = 'h';
    });
    expect(message).toMatch(
      /^spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`/,
    );
    expect(change((spec) => spec.containers!.push({ name: 'b', image: 'i' }))).toContain(
      'spec.containers: Forbidden: pod updates may not add or remove containers',
    );
    expect(
      change((spec) => {
        spec.activeDeadlineSeconds = 200;
      }),
    ).toEqual([
      'spec.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous value',
    ]);
  });
});

describe('status of pods', () => {
  const podIn = (state: object) =>
    ({
      spec: { restartPolicy: 'Never' },
      status: { containerStatuses: [{ name: 'a', state }] },
    }) as Pod;
  it('rejects a restart of a terminated container', () => {
    const errors = pod.status?.validateUpdate?.(
      podIn({ running: {} }),
      podIn({ terminated: { exitCode: 0 } }),
      requestContext(),
    );
    expect(errors?.map(({ field }) => field)).toEqual(['status.containerStatuses[0].state']);
  });
  it('accepts one address per family', () => {
    const errors = pod.status?.validateUpdate?.(
      { status: { podIPs: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }] } } as Pod,
      {},
      requestContext(),
    );
    expect(errors?.map(({ detail }) => detail)).toEqual([
      'may specify no more than one IP for each IP family',
    ]);
  });
});

describe('deletion of pods', () => {
  const grace = (spec: object, phase = 'Running', requested?: number) =>
    pod.deletionGracePeriodSeconds?.({ spec, status: { phase } } as Pod, requested);
  it('uses the grace period of pods on a node', () => {
    expect(grace({ nodeName: 'n', terminationGracePeriodSeconds: 30 })).toBe(30);
    expect(grace({ nodeName: 'n', terminationGracePeriodSeconds: 30 }, 'Running', 5)).toBe(5);
    expect(grace({ terminationGracePeriodSeconds: 30 })).toBe(0);
    expect(grace({ nodeName: 'n', terminationGracePeriodSeconds: 30 }, 'Failed')).toBe(0);
  });
});

describe('rows of pods', () => {
  const row = (status: object, metadata: object = {}) =>
    cells(pod, {
      metadata: { name: 'p', ...metadata },
      spec: {
        containers: [container, { name: 'b', image: 'i' }],
        initContainers: [{ name: 'i1' }, { name: 'i2' }],
      },
      status,
    } as Pod);
  const state = (name: string, ready: boolean, restartCount: number, of: object) => ({
    name,
    ready,
    restartCount,
    image: 'i',
    imageID: '',
    state: of,
  });
  it('summarise the states of the containers', () => {
    expect(
      row({
        phase: 'Running',
        containerStatuses: [
          state('a', true, 3, { running: {} }),
          state('b', false, 1, { waiting: { reason: 'CrashLoopBackOff' } }),
        ],
      }),
    ).toMatchObject({ Ready: '1/2', Status: 'CrashLoopBackOff', Restarts: 4 });
    expect(
      row({
        phase: 'Pending',
        initContainerStatuses: [
          state('i1', true, 0, { terminated: { exitCode: 0 } }),
          state('i2', false, 2, { running: {} }),
        ],
      }),
    ).toMatchObject({ Status: 'Init:1/2', Restarts: 2 });
    expect(
      row({
        phase: 'Failed',
        containerStatuses: [state('a', false, 0, { terminated: { exitCode: 137, signal: 9 } })],
      }),
    ).toMatchObject({ Status: 'Signal:9' });
    expect(row({ phase: 'Running' }, { deletionTimestamp: '2026-01-01T00:00:00Z' })).toMatchObject({
      Status: 'Terminating',
      IP: '<none>',
    });
  });
});
