import type { Job } from '@orch/types/batch/v1';
import type { Pod } from '@orch/types/core/v1';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { at, epochMs, pod } from '../../test/objects.js';
import { stateCount, stateTimeoutMs } from '../../test/states.js';
import { isPodActive } from '../common/pods.js';
import { formatIndexes, indexAnnotation, parseIndexes } from './job-indexes.js';
import { isComplete, type JobState, planJob, succeededCount } from './job-plan.js';
import { jobPod } from './job-pods.js';
import { JobTally } from './job-tally.js';

type Spec = Partial<NonNullable<Job['spec']>>;
const template = { spec: { containers: [{ name: 'main' }], restartPolicy: 'Never' } };

function job(spec: Spec = {}, status: Job['status'] = {}): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'pi', namespace: 'default', uid: 'uid-pi' },
    spec: { parallelism: 1, backoffLimit: 6, template, ...spec },
    status,
  };
}

function stateOf(of: Job, pods: readonly Pod[], more: Partial<JobState> = {}): JobState {
  const count = (phase: string) => pods.filter(({ status }) => status?.phase === phase).length;
  const finished = { succeeded: count('Succeeded'), failed: count('Failed') };
  return { job: of, pods, finished, isSuspended: false, nowMs: epochMs, ...more };
}

const indexed = (index: number, facts: Parameters<typeof pod>[0] = {}) =>
  pod({ ...facts, annotations: { [indexAnnotation()]: String(index) } });

describe('planJob', () => {
  it('creates up to the parallelism and no more than completions are missing', () => {
    const create = (spec: Spec, pods: Pod[] = []) =>
      planJob(stateOf(job(spec), pods)).creations.length;
    expect(create({ parallelism: 3, completions: 5 })).toBe(3);
    expect(create({ parallelism: 3, completions: 2 })).toBe(2);
    expect(create({ parallelism: 3, completions: 2 }, [pod({ phase: 'Succeeded' })])).toBe(1);
    expect(create({ parallelism: 3 })).toBe(3);
    expect(create({ parallelism: 3 }, [pod({ phase: 'Succeeded' })])).toBe(0);
  });

  it('deletes surplus pods, the ones that run least first', () => {
    const pods = [pod({ name: 'a', node: 'n' }), pod({ name: 'b', phase: 'Pending' })];
    const plan = planJob(stateOf(job({ parallelism: 1, completions: 4 }), pods));
    expect(plan.deletions.map(({ metadata }) => metadata?.name)).toEqual(['b']);
    expect(planJob(stateOf(job(), pods, { isSuspended: true })).deletions).toHaveLength(2);
  });

  it.each<[string, Spec, Job['status'], Pod[], string | undefined]>([
    ['a failure within the limit', { backoffLimit: 1 }, {}, [pod({ phase: 'Failed' })], undefined],
    ['one too many', { backoffLimit: 0 }, {}, [pod({ phase: 'Failed' })], 'BackoffLimitExceeded'],
    ['an old failure', { backoffLimit: 0 }, { failed: 1 }, [pod({ phase: 'Failed' })], undefined],
    ['a deadline', { activeDeadlineSeconds: 5 }, { startTime: at(-5) }, [], 'DeadlineExceeded'],
    ['time left', { activeDeadlineSeconds: 6 }, { startTime: at(-5) }, [], undefined],
  ])('fails for %s: %#', (_, spec, status, pods, reason) => {
    expect(planJob(stateOf(job(spec, status), pods)).failure?.reason).toBe(reason);
  });

  it('counts restarts of containers against the limit', () => {
    const onFailure = { spec: { ...template.spec, restartPolicy: 'OnFailure' } };
    const fails = (backoffLimit: number, restarts: number) =>
      planJob(stateOf(job({ backoffLimit, template: onFailure }), [pod({ restarts })])).failure;
    expect(fails(0, 0)).toBeUndefined();
    expect(fails(0, 1)).toBeDefined();
    expect(fails(2, 1)).toBeUndefined();
    expect(fails(2, 2)).toBeDefined();
  });

  it('runs each index once', () => {
    const spec: Spec = { completionMode: 'Indexed', completions: 5, parallelism: 5 };
    const pods = [indexed(0, { phase: 'Succeeded' }), indexed(2), indexed(4, { phase: 'Failed' })];
    expect(planJob(stateOf(job(spec), pods)).creations).toEqual([1, 3, 4]);
    const counted = job(spec, { completedIndexes: '0-3' });
    expect(planJob(stateOf(counted, [])).creations).toEqual([4]);
    const twice = [indexed(1, { name: 'old', node: 'n' }), indexed(1, { name: 'new' }), pod()];
    const names = planJob(stateOf(job(spec), twice)).deletions.map(
      ({ metadata }) => metadata?.name,
    );
    expect(names.sort()).toEqual(['new', 'pod']);
  });

  it('never plans a pod too many', { timeout: stateTimeoutMs }, () => {
    const phase = fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed');
    const podFacts = fc.record({
      phase,
      deleting: fc.boolean(),
      index: fc.option(fc.nat(12)),
      node: fc.constantFrom('', 'n'),
    });
    const states = fc.record({
      completions: fc.option(fc.nat(10), { nil: undefined }),
      parallelism: fc.nat(8),
      isIndexed: fc.boolean(),
      isSuspended: fc.boolean(),
      completed: fc.uniqueArray(fc.nat(12)),
      pods: fc.array(podFacts, { maxLength: 16 }),
    });
    const property = fc.property(states, (facts) => {
      const { completions, parallelism } = facts;
      const isIndexed = facts.isIndexed && completions !== undefined;
      const completedIndexes = isIndexed ? formatIndexes(new Set(facts.completed)) : '';
      const of = job(
        {
          completions,
          parallelism,
          backoffLimit: 1_000,
          ...(isIndexed && { completionMode: 'Indexed' }),
        },
        { completedIndexes },
      );
      const pods = facts.pods.map(({ index, ...more }) =>
        index === null ? pod(more as object) : indexed(index, more as object),
      );
      const state = stateOf(of, pods, { isSuspended: facts.isSuspended });
      const { creations, deletions } = planJob(state);
      const active = pods.filter(isPodActive);
      const after = active.length - deletions.length + creations.length;
      const missing = (completions ?? Number.POSITIVE_INFINITY) - succeededCount(state);
      expect(creations.length === 0 || deletions.length === 0).toBe(true);
      expect(deletions.every((one) => active.includes(one))).toBe(true);
      if (facts.isSuspended) expect(after).toBe(0);
      else if (completions === undefined && state.finished.succeeded > 0) {
        expect(after).toBe(active.length);
      } else expect(after).toBeLessThanOrEqual(Math.max(0, Math.min(parallelism, missing)));
      if (!isIndexed) return;
      const kept = active.filter((one) => !deletions.includes(one));
      const indexes = [
        ...kept.map(({ metadata }) => Number(metadata?.annotations?.[indexAnnotation()])),
        ...creations,
      ];
      expect(new Set(indexes).size).toBe(indexes.length);
      for (const one of pods.filter(({ status }) => status?.phase === 'Succeeded')) {
        expect(creations).not.toContain(Number(one.metadata?.annotations?.[indexAnnotation()]));
      }
      for (const index of creations) expect(index).toBeLessThan(completions ?? 0);
    });
    fc.assert(property, { numRuns: stateCount });
  });
});

describe('JobTally', () => {
  /**
   * Runs a job while pods succeed, fail and are deleted, and the controller restarts. `true` in
   * `restarts`: the controller loses its memory after that step.
   */
  function run(
    completions: number,
    steps: readonly { readonly act: number; readonly restart: boolean }[],
  ) {
    let status: Job['status'] = {};
    let pods: Pod[] = [];
    let createdCount = 0;
    let lostCount = 0;
    let tally: JobTally | undefined;
    for (const { act, restart } of steps) {
      const of = job({ completions, parallelism: 2, backoffLimit: 1_000 }, status);
      tally ??= new JobTally(of, pods);
      const exists = (uid: string) => pods.some(({ metadata }) => metadata?.uid === uid);
      const finished = tally.count(pods, exists);
      const state = stateOf(of, pods, { finished });
      const { creations, deletions } = planJob(state);
      expect(deletions).toEqual([]);
      for (const _ of creations) pods.push(pod());
      createdCount += creations.length;
      status = finished;
      const victim = pods[act % Math.max(1, pods.length)];
      if (victim && act % 4 === 3) {
        if (isPodActive(victim)) lostCount += 1;
        pods = pods.filter((one) => one !== victim);
      } else if (victim && isPodActive(victim)) {
        const phase = act % 4 === 0 ? 'Failed' : 'Succeeded';
        if (phase === 'Failed') lostCount += 1;
        pods = pods.map((one) => (one === victim ? { ...one, status: { phase } } : one));
        // The controller observes every end before the pod is deleted.
        const seen = job({}, status);
        status = tally.count(pods, exists);
        if (restart) tally = new JobTally({ ...seen, status }, pods);
      }
      if (isComplete(of, finished.succeeded, 0)) break;
    }
    return { createdCount, lostCount, succeeded: status?.succeeded ?? 0 };
  }

  it('never counts a pod twice or forgets one, so that no pod too many is created', {
    timeout: stateTimeoutMs,
  }, () => {
    const step = fc.record({ act: fc.nat(1_000), restart: fc.boolean() });
    const property = fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.array(step, { minLength: 20, maxLength: 60 }),
      (completions, steps) => {
        const { createdCount, lostCount, succeeded } = run(completions, steps);
        expect(createdCount).toBeLessThanOrEqual(completions + lostCount);
        expect(succeeded).toBeLessThanOrEqual(completions);
      },
    );
    fc.assert(property, { numRuns: Math.ceil(stateCount / 10) });
  });

  it('does not count a released pod, which still exists', () => {
    const done = pod({ phase: 'Succeeded' });
    const tally = new JobTally(job(), [done]);
    expect(tally.count([done], () => true).succeeded).toBe(1);
    expect(tally.count([], () => true).succeeded).toBe(0);
    expect(tally.count([], () => false).succeeded).toBe(0);
  });
});

describe('indexes', () => {
  it('are written as ranges of three and more', () => {
    expect(formatIndexes(new Set([7, 1, 4, 3, 5, 9, 10]))).toBe('1,3-5,7,9,10');
    expect([...parseIndexes('1,3-5,x,9-20', 10)]).toEqual([1, 3, 4, 5, 9]);
  });

  it('survive writing and reading', () => {
    const property = fc.property(fc.uniqueArray(fc.nat(200)), (list) => {
      const read = parseIndexes(formatIndexes(new Set(list)), 201);
      expect([...read]).toEqual([...list].sort((a, b) => a - b));
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('reach the pod by name, annotation, host name and variable', () => {
    const created = jobPod(job(), 3);
    expect(created.metadata).toMatchObject({
      generateName: 'pi-3-',
      annotations: { [indexAnnotation()]: '3' },
    });
    expect(created.spec?.hostname).toBe('pi-3');
    expect(created.spec?.containers?.[0]?.env).toMatchObject([{ name: 'JOB_COMPLETION_INDEX' }]);
  });
});
