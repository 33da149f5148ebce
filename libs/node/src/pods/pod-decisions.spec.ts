/** Decisions and status of the pod worker for all states of containers. */
import type { Container, Pod, PodSpec } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import type {
  ContainerId,
  ContainerStatus,
  SandboxId,
  SandboxStatus,
} from '../runtimes/container-runtime.js';
import { podActions } from './pod-actions.js';
import { type PodStatusContext, podStatus } from './pod-status.js';
import { podView } from './pod-view.js';

const identity = { uid: 'u', namespace: 'd', name: 'p' };
const sandboxId = 's1' as SandboxId;

const podOf = (spec: Partial<PodSpec>, status: Pod['status'] = {}): Pod => ({
  metadata: identity,
  spec: { restartPolicy: 'Always', containers: [{ name: 'a', image: 'i' }], ...spec },
  status,
});

const sandbox = (more: Partial<SandboxStatus> = {}): SandboxStatus => ({
  id: sandboxId,
  pod: identity,
  attempt: 0,
  state: 'ready',
  createdAtMs: 0,
  podIp: '10.0.0.2',
  ...more,
});

const run = (name: string, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  id: `${name}-${more.attempt ?? 0}` as ContainerId,
  sandboxId,
  pod: identity,
  name,
  attempt: 0,
  state: 'running',
  createdAtMs: 1_000,
  startedAtMs: 1_000,
  image: 'i',
  imageRef: 'process://i',
  logPath: '/log',
  annotations: {},
  ...more,
});

const exited = (name: string, exitCode: number, more: Partial<ContainerStatus> = {}) =>
  run(name, {
    state: 'exited',
    exitCode,
    finishedAtMs: 2_000,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    ...more,
  });

const idle = { probe: () => undefined, backoffMs: () => 0 };

describe('podActions', () => {
  const decide = (
    pod: Pod,
    runs: ContainerStatus[],
    context: Partial<Parameters<typeof podActions>[1]> = {},
    sandboxes = [sandbox()],
  ) => {
    const actions = podActions(podView(pod, sandboxes, runs), { ...idle, ...context });
    return {
      sandbox: actions.newSandboxAttempt,
      start: actions.start.map(({ container, attempt }) => `${container.name}/${attempt}`),
      kill: actions.kill.map(({ run: { id } }) => id),
      waiting: [...actions.backingOff.keys()],
    };
  };
  const nothing = { sandbox: undefined, start: [], kill: [], waiting: [] };
  const two: Partial<PodSpec> = {
    initContainers: [
      { name: 'i1', image: 'i' },
      { name: 'i2', image: 'i' },
    ],
    containers: [
      { name: 'a', image: 'i' },
      { name: 'b', image: 'i' },
    ],
  };

  it('creates the sandbox first', () => {
    expect(decide(podOf({}), [], {}, [])).toEqual({ ...nothing, sandbox: 0 });
    const gone = [sandbox({ state: 'notReady', attempt: 3 })];
    expect(decide(podOf({}), [exited('a', 137)], {}, gone)).toEqual({ ...nothing, sandbox: 4 });
    expect(decide(podOf({}), [run('a')], {}, gone)).toEqual({ ...nothing, kill: ['a-0'] });
    const done = [exited('a', 1)];
    expect(decide(podOf({ restartPolicy: 'Never' }), done, {}, gone)).toEqual(nothing);
  });

  it('starts init containers sequentially, then all main containers', () => {
    const pod = podOf(two);
    expect(decide(pod, []).start).toEqual(['i1/0']);
    expect(decide(pod, [run('i1')])).toEqual(nothing);
    expect(decide(pod, [exited('i1', 0)]).start).toEqual(['i2/0']);
    expect(decide(pod, [exited('i1', 0), exited('i2', 1)]).start).toEqual(['i2/1']);
    const through = [exited('i1', 0), exited('i2', 0)];
    expect(decide(pod, through).start).toEqual(['a/0', 'b/0']);
    expect(decide(pod, [...through, run('a')]).start).toEqual(['b/0']);
    // The runs of the init containers may have been removed by then.
    expect(decide(pod, [run('a'), exited('b', 1)]).start).toEqual(['b/1']);
  });

  it('runs init containers again in a new sandbox', () => {
    const old = { sandboxId: 's0' as SandboxId };
    const runs = [exited('i1', 0, old), exited('i2', 0, old), exited('a', 137, old)];
    expect(decide(podOf(two), runs).start).toEqual(['i1/1']);
  });

  it('applies the restart policy', () => {
    const start = (restartPolicy: string, exitCode: number) =>
      decide(podOf({ restartPolicy }), [exited('a', exitCode)]).start;
    expect(start('Always', 0)).toEqual(['a/1']);
    expect(start('OnFailure', 0)).toEqual([]);
    expect(start('OnFailure', 1)).toEqual(['a/1']);
    expect(start('Never', 1)).toEqual([]);
    const failedInit = podOf({ ...two, restartPolicy: 'Never' });
    expect(decide(failedInit, [exited('i1', 1)])).toEqual(nothing);
  });

  it('waits for the back-off', () => {
    const actions = decide(podOf({}), [exited('a', 1)], { backoffMs: () => 5_000 });
    expect(actions).toEqual({ ...nothing, waiting: ['a'] });
  });

  it('starts ephemeral containers once, when the pod has its sandbox', () => {
    const pod = podOf({ ...two, ephemeralContainers: [{ name: 'e', image: 'i' }] });
    expect(decide(pod, [], {}, [])).toEqual({ ...nothing, sandbox: 0 });
    expect(decide(pod, []).start).toEqual(['e/0', 'i1/0']);
    expect(decide(pod, [run('a'), run('b')]).start).toEqual(['e/0']);
    for (const made of [run('e'), exited('e', 1), exited('e', 0)]) {
      expect(decide(pod, [run('a'), run('b'), made])).toEqual(nothing);
    }
    const gone = { name: 'e', ready: false, restartCount: 0, image: 'i', imageID: '' };
    const known = (containerID: string) => ({
      ...pod,
      status: { ephemeralContainerStatuses: [{ ...gone, containerID }] },
    });
    expect(decide(known('x://e'), [run('a'), run('b')])).toEqual(nothing);
    expect(decide(known(''), [run('a'), run('b')]).start).toEqual(['e/0']);
  });

  it('kills containers that fail a probe or have another image', () => {
    const failing = {
      probe: (_id: ContainerId, kind: string) => (kind === 'liveness' ? 'failure' : 'success'),
    } as const;
    expect(decide(podOf({}), [run('a')], failing).kill).toEqual(['a-0']);
    expect(decide(podOf({}), [run('a', { image: 'older' })]).kill).toEqual(['a-0']);
    expect(decide(podOf({}), [run('a')])).toEqual(nothing);
  });

  it('continues the attempt number of the API if the runtime has lost the runs', () => {
    const status = {
      containerStatuses: [
        { name: 'a', ready: true, restartCount: 4, image: 'i', imageID: 'x', containerID: 'x://1' },
      ],
    };
    expect(decide(podOf({}, status), []).start).toEqual(['a/5']);
  });
});

describe('podStatus', () => {
  const show = (pod: Pod, runs: ContainerStatus[], more: Partial<PodStatusContext> = {}) =>
    podStatus(podView(pod, [sandbox()], runs), {
      runtimeName: 'process',
      nowMs: 10_000,
      hostIp: '192.0.2.1',
      podIp: '10.0.0.2',
      probe: () => undefined,
      waiting: () => undefined,
      isStarting: () => false,
      terminationMessage: () => '',
      ...more,
    });
  const condition = (status: ReturnType<typeof show>, wanted: string) =>
    status.conditions?.find(({ type }) => type === wanted);
  const readiness = { name: 'a', image: 'i', readinessProbe: {} } as Container;

  it('computes the phase for every state', () => {
    const phase = (restartPolicy: string, ...runs: ContainerStatus[]) =>
      show(podOf({ restartPolicy }), runs).phase;
    expect(phase('Always')).toBe('Pending');
    expect(phase('Always', run('a'))).toBe('Running');
    expect(phase('Always', exited('a', 1))).toBe('Running');
    expect(phase('Never', exited('a', 1))).toBe('Failed');
    expect(phase('Never', exited('a', 0))).toBe('Succeeded');
    expect(phase('OnFailure', exited('a', 1))).toBe('Running');
    expect(phase('OnFailure', exited('a', 0))).toBe('Succeeded');
    const init = podOf({ restartPolicy: 'Never', initContainers: [{ name: 'i', image: 'i' }] });
    expect(show(init, [exited('i', 2)]).phase).toBe('Failed');
    expect(show(init, [run('i')]).phase).toBe('Pending');
    expect(show(init, [exited('i', 0), run('a')]).phase).toBe('Running');
  });

  it('includes ephemeral containers, which do not affect phase and readiness', () => {
    const pod = podOf({ ephemeralContainers: [{ name: 'e', image: 'i' }] });
    expect(show(podOf({}), [run('a')]).ephemeralContainerStatuses).toBeUndefined();
    for (const [runs, state] of [
      [[], { waiting: { reason: 'ContainerCreating' } }],
      [[run('e')], { running: {} }],
      [[exited('e', 3)], { terminated: { exitCode: 3 } }],
    ] as const) {
      const status = show(pod, [run('a'), ...runs]);
      expect(status.ephemeralContainerStatuses).toMatchObject([{ name: 'e', ready: false, state }]);
      expect(status.phase).toBe('Running');
      expect(condition(status, 'Ready')?.status).toBe('True');
    }
  });

  it('is ready when all containers are', () => {
    const unready = show(podOf({ containers: [readiness] }), [run('a')]);
    expect(condition(unready, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [a]',
    });
    const probe = () => 'success' as const;
    const ready = show(podOf({ containers: [readiness] }), [run('a')], { probe });
    expect(condition(ready, 'Ready')).toMatchObject({ status: 'True' });
    expect(condition(ready, 'Ready')?.reason).toBeUndefined();
    const gated = show(podOf({ readinessGates: [{ conditionType: 'x/y' }] }), [run('a')]);
    expect(condition(gated, 'Ready')?.reason).toBe('ReadinessGatesNotReady');
    expect(condition(gated, 'ContainersReady')?.status).toBe('True');
  });

  it('is not started before its startup probe has succeeded', () => {
    const pod = podOf({ containers: [{ name: 'a', image: 'i', startupProbe: {} } as Container] });
    expect(show(pod, [run('a')]).containerStatuses?.[0]).toMatchObject({
      started: false,
      ready: false,
    });
    const probe = () => 'success' as const;
    expect(show(pod, [run('a')], { probe }).containerStatuses?.[0]?.started).toBe(true);
  });

  it('includes the waiting reason and the end of the previous run', () => {
    const waiting = () => ({ reason: 'CrashLoopBackOff', message: 'm' });
    const [status] = show(podOf({}), [exited('a', 3, { attempt: 2 })], { waiting })
      .containerStatuses!;
    expect(status).toMatchObject({
      restartCount: 2,
      containerID: 'process://a-2',
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 3, startedAt: '1970-01-01T00:00:01Z' } },
    });
    const init = podOf({ initContainers: [{ name: 'i', image: 'i' }] });
    const shown = show(init, [run('i')]);
    expect(shown.containerStatuses?.[0]?.state?.waiting?.reason).toBe('PodInitializing');
    expect(condition(shown, 'Initialized')?.message).toBe('containers with incomplete status: [i]');
  });

  it('retains the transition time of an unchanged condition', () => {
    const before = { type: 'Ready', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z' };
    const scheduled = {
      type: 'PodScheduled',
      status: 'True',
      lastTransitionTime: '2019-01-01T00:00:00Z',
    };
    const pod = podOf({}, { conditions: [before, scheduled], startTime: '2019-01-01T00:00:01Z' });
    const status = show(pod, [run('a')]);
    expect(condition(status, 'Ready')?.lastTransitionTime).toBe(before.lastTransitionTime);
    expect(condition(status, 'PodScheduled')).toEqual(scheduled);
    expect(condition(status, 'Initialized')?.lastTransitionTime).toBe('1970-01-01T00:00:10Z');
    expect(status.startTime).toBe('2019-01-01T00:00:01Z');
  });

  it('overrides the state of the containers by a failure of the pod', () => {
    const failure = { reason: 'DeadlineExceeded', message: 'late' };
    expect(show(podOf({}), [run('a')], { failure })).toMatchObject({ phase: 'Failed', ...failure });
  });
});
