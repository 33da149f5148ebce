import { resources } from '@orch/client';
import type { CronJob } from '@orch/types/batch/v1';
import { afterEach, describe, expect, it } from 'vitest';
import { at, epochMs } from '../../test/objects.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { cronJobController } from './cron-job-controller.js';

type Spec = Partial<NonNullable<CronJob['spec']>>;
const day = 86_400;

/** The clock starts at midnight UTC. */
describe('cronJobController', () => {
  let harness: ControllerHarness;
  const jobs = () => harness.names(resources.jobs);
  const status = () => harness.server.get(resources.cronJobs, 'default/tick')?.status;
  const nameAt = (seconds: number) => `tick-${Math.floor((epochMs / 1000 + seconds) / 60)}`;
  const writeCount = () => harness.server.requests.filter(({ method }) => method !== 'GET').length;

  function seed(spec: Spec, facts: { created?: number; status?: CronJob['status'] } = {}) {
    harness = new ControllerHarness([cronJobController]);
    const template = { spec: { template: { spec: { containers: [] } } } };
    harness.server.seed(resources.cronJobs, {
      metadata: { name: 'tick', namespace: 'default', creationTimestamp: at(facts.created ?? 0) },
      spec: { schedule: 'TZ=UTC */5 * * * *', jobTemplate: template, ...spec },
      ...(facts.status && { status: facts.status }),
    });
  }

  async function finish(name: string, type: 'Complete' | 'Failed' = 'Complete') {
    const conditions = [{ type, status: 'True' as const, lastTransitionTime: at(0) }];
    harness.server.change(resources.jobs, `default/${name}`, (job) => ({
      ...job,
      status: { ...job.status, conditions, completionTime: at(600), startTime: at(300) },
    }));
    await harness.settle();
  }

  const change = async (spec: Spec) => {
    const client = harness.client.resource(resources.cronJobs, 'default');
    await client.patch('tick', { spec }, { type: 'merge' });
    await harness.settle();
  };

  afterEach(() => harness.stop());

  it('starts a job at each time of the schedule, and follows it', async () => {
    seed({});
    await harness.start();
    await harness.advance(299_000);
    expect(jobs()).toEqual([]);
    await harness.advance(2_000);
    expect(jobs()).toEqual([nameAt(300)]);
    expect(status()).toMatchObject({
      lastScheduleTime: at(300),
      active: [{ kind: 'Job', name: nameAt(300), namespace: 'default' }],
    });
    await finish(nameAt(300));
    expect(status()).not.toHaveProperty('active');
    expect(status()).toMatchObject({ lastSuccessfulTime: at(600) });
    await harness.advance(300_000);
    expect(jobs()).toEqual([nameAt(300), nameAt(600)]);
    expect(harness.events()).toEqual(
      expect.arrayContaining([
        `SuccessfulCreate: Created job ${nameAt(300)}`,
        `SawCompletedJob: Saw completed job: ${nameAt(300)}, status: Complete`,
      ]),
    );
  });

  it.each([
    ['Allow', 2],
    ['Forbid', 1],
    ['Replace', 1],
  ] as const)('with %s, runs %i at a time', async (concurrencyPolicy, count) => {
    seed({ concurrencyPolicy });
    await harness.start();
    await harness.advance(601_000);
    expect(jobs()).toHaveLength(count);
    expect(jobs().at(-1)).toBe(nameAt(concurrencyPolicy === 'Forbid' ? 300 : 600));
    expect(status()?.active).toHaveLength(count);
    const refusal =
      'JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid';
    expect(harness.events().includes(refusal)).toBe(concurrencyPolicy === 'Forbid');
  });

  it('makes up for the latest of 10,000 missed runs once, and says so', async () => {
    seed({ schedule: 'TZ=UTC * * * * *' }, { created: -10_000 * 60 });
    await harness.start();
    expect(jobs()).toEqual([nameAt(0)]);
    expect(harness.events()).toContain(
      'TooManyMissedTimes: too many missed start times: 10000. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
    );
    await harness.advance(30_000);
    expect(jobs()).toEqual([nameAt(0)]);
    expect(writeCount()).toBeLessThan(10);
  });

  it('does not start a run after its deadline', async () => {
    seed({ schedule: 'TZ=UTC 0 0 * * *', startingDeadlineSeconds: 60 }, { created: -day / 2 });
    await harness.clock.advance(120_000);
    await harness.start();
    expect(jobs()).toEqual([]);
    await harness.advance(60_000);
    expect(jobs()).toEqual([]);
  });

  it('adopts the job of a run that was started before a crash', async () => {
    seed({ schedule: 'TZ=UTC 0 0 * * *' }, { created: -3_600 });
    harness.server.interceptNext('PUT', resources.cronJobs, () => {
      throw new Error('crashed');
    });
    await harness.start();
    await harness.advance(2_000);
    expect(jobs()).toEqual([nameAt(0)]);
    expect(status()).toMatchObject({ lastScheduleTime: at(0), active: [{ name: nameAt(0) }] });
  });

  it('waits without writes when the clock went back a day, and says so once', async () => {
    seed({}, { status: { lastScheduleTime: at(day) } });
    await harness.start();
    await harness.advance(600_000);
    expect(jobs()).toEqual([]);
    expect(harness.events().filter((event) => event.startsWith('ClockSkew'))).toHaveLength(1);
    expect(writeCount()).toBe(1);
  });

  it('starts one run when the clock jumps ahead a day, and none when it jumps back', async () => {
    seed({});
    await harness.start();
    harness.clock.jump(day * 1_000);
    await harness.advance(61_000);
    expect(jobs()).toEqual([nameAt(day)]);
    harness.clock.jump(-day * 1_000);
    await harness.advance(600_000);
    expect(jobs()).toEqual([nameAt(day)]);
    expect(writeCount()).toBeLessThan(10);
  });

  it('does nothing while suspended, and applies a new schedule from its next run on', async () => {
    seed({ suspend: true });
    await harness.start();
    await harness.advance(400_000);
    expect(jobs()).toEqual([]);
    await change({ schedule: 'TZ=UTC */7 * * * *', suspend: false });
    expect(jobs()).toEqual([]);
    await harness.advance(25_000);
    expect(jobs()).toEqual([nameAt(420)]);
  });

  it('deletes finished jobs above the limits of the history', async () => {
    seed({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 });
    await harness.start();
    for (const seconds of [300, 600, 900]) {
      await harness.advance(300_500);
      await finish(nameAt(seconds), seconds === 900 ? 'Failed' : 'Complete');
    }
    expect(jobs()).toEqual([nameAt(600)]);
  });

  it('reports a schedule that never runs or cannot be read, without a hot loop', async () => {
    seed({ schedule: 'TZ=UTC 0 0 30 2 *' });
    await harness.start();
    await change({ schedule: 'now and then' });
    await harness.advance(300_000);
    expect(harness.events()).toEqual([
      'InvalidSchedule: invalid schedule: TZ=UTC 0 0 30 2 * : time difference between two schedules less than 1 second',
      'UnparseableSchedule: unparseable schedule: "now and then" : Expected exactly 5 fields, found 3: now and then',
    ]);
    expect(writeCount()).toBe(3);
  });
});
