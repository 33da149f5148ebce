import { fieldErrorMessage } from '@orch/apimachinery';
import { FeatureGates } from '@orch/component';
import type { CronJob, Job } from '@orch/types/batch/v1';
import { describe, expect, it } from 'vitest';
import { dropDisabledFields } from '../shared/gated-fields.js';
import { cells, create, requestContext, update } from '../testing/write.js';
import { cronJob } from './cron-job.js';
import { job } from './job.js';

const uid = 'job-uid';
const pods = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:1' }] };
const good = { template: { spec: pods } };
const metadata = { name: 'x', uid };
const like = (pattern: RegExp) => expect.stringMatching(pattern) as string;
const notNegative = (field: string, value = -1) =>
  `${field}: Invalid value: ${value}: must be greater than or equal to 0`;

describe('jobs', () => {
  const createJob = (spec: object = {}) =>
    create<Job>(job, { metadata, spec: { ...good, ...spec } });
  const errorsOf = (spec: object) => createJob(spec).errors;
  const generated = { 'controller-uid': uid, 'job-name': 'x' };

  it('get a generated selector and labels', () => {
    const { object, errors } = createJob();
    expect(errors).toEqual([]);
    expect(object).toMatchObject({
      metadata: { labels: generated },
      spec: {
        backoffLimit: 6,
        selector: { matchLabels: { 'controller-uid': uid } },
        template: { metadata: { labels: generated } },
      },
      status: {},
    });
  });

  it('label pods with the final generated name', () => {
    const { object } = create<Job>(job, { metadata: { name: 'run-a', uid }, spec: good });
    object.metadata!.name = 'run-b';
    job.prepareNamed?.(object, 'run-a', requestContext());
    const named = { 'controller-uid': uid, 'job-name': 'run-b' };
    expect(object.metadata?.labels).toEqual(named);
    expect(object.spec?.template.metadata?.labels).toEqual(named);
    expect(update(job, object, () => undefined).errors).toEqual([]);
  });

  it('keep a manual selector', () => {
    const labels = { a: 'b' };
    const { object, errors } = createJob({
      manualSelector: true,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: pods },
    });
    expect(errors).toEqual([]);
    expect(object).toMatchObject({
      metadata: { labels },
      spec: { selector: { matchLabels: labels } },
    });
    expect(object.spec?.template.metadata?.labels).toEqual(labels);
  });

  it.each<[object, number | undefined, number]>([
    [{}, 1, 1],
    [{ parallelism: 3 }, undefined, 3],
    [{ parallelism: 0 }, undefined, 0],
    [{ completions: 5 }, 5, 1],
  ])('default the completions of %j', (spec, completions, parallelism) => {
    const { object } = createJob(spec);
    expect(object.spec?.completions).toBe(completions);
    expect(object.spec?.parallelism).toBe(parallelism);
  });

  it('drop fields of disabled features', () => {
    const { object, errors } = createJob({ completionMode: 'x', suspend: true });
    expect(errors).toEqual([]);
    expect(object.spec).not.toHaveProperty('completionMode');
    expect(object.spec).not.toHaveProperty('suspend');
  });

  it('default and retain fields of enabled features', () => {
    const gates = new FeatureGates('apiserver');
    gates.set({ IndexedJob: 'true', SuspendJob: 'true' });
    const object: Job = { metadata, spec: structuredClone(good) as Job['spec'] };
    job.versions[0]?.setDefaults?.(object, gates);
    dropDisabledFields(object, undefined, job.gatedFields ?? [], gates);
    expect(object.spec).toMatchObject({ completionMode: 'NonIndexed', suspend: false });
  });

  it.each<[object, string[]]>([
    [{ completionMode: 'Indexed', completions: 3, parallelism: 100_000 }, []],
    [
      { completionMode: 'Indexed', parallelism: 100_001 },
      [
        'spec.completions: Required value: when completion mode is Indexed',
        'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
      ],
    ],
    [
      { completionMode: 'x', completions: 1 },
      ['spec.completionMode: Unsupported value: "x": supported values: "NonIndexed", "Indexed"'],
    ],
  ])('validate the completion mode of %j', (spec, expected) => {
    const { object } = createJob();
    const indexed = { ...object, spec: { ...object.spec, completions: undefined, ...spec } } as Job;
    expect(job.validate?.(indexed, requestContext()).map(fieldErrorMessage)).toEqual(expected);
  });

  it('report missing fields', () => {
    expect(create(job, { metadata }).errors).toEqual([
      'spec.template.spec.containers: Required value',
      'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ]);
  });

  it.each<[object, string[]]>([
    [
      { parallelism: -1, completions: -2, backoffLimit: -3, ttlSecondsAfterFinished: -4 },
      [
        notNegative('spec.parallelism'),
        notNegative('spec.completions', -2),
        notNegative('spec.backoffLimit', -3),
        notNegative('spec.ttlSecondsAfterFinished', -4),
      ],
    ],
    [{ activeDeadlineSeconds: -1 }, [notNegative('spec.activeDeadlineSeconds')]],
    [
      { selector: { matchLabels: { a: 'b' } } },
      [
        like(/^spec\.selector: Invalid value: .*: `selector` not auto-generated$/),
        'spec.template.metadata.labels: Invalid value: map[string]string{"controller-uid":"job-uid", "job-name":"x"}: `selector` does not match template `labels`',
      ],
    ],
    [
      { template: { metadata: { labels: { 'job-name': 'other' } }, spec: pods } },
      [
        'spec.template.metadata.labels[job-name]: Invalid value: map[string]string{"controller-uid":"job-uid", "job-name":"other"}: must be \'x\'',
      ],
    ],
    [
      { manualSelector: true },
      [
        'spec.selector: Required value',
        'spec.template.metadata.labels: Invalid value: map[string]string(nil): `selector` does not match template `labels`',
      ],
    ],
    [
      { template: { spec: { ...pods, restartPolicy: 'Always' } } },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
  ])('reject %j', (spec, messages) => {
    expect(errorsOf(spec)).toEqual(messages);
  });

  it('reject changes of completions, selector and template', () => {
    const { object } = createJob();
    const refused = (change: (spec: NonNullable<Job['spec']>) => unknown) =>
      update(job, object, (changed: Job) => change(changed.spec!)).errors.map(
        (message) => message.split(':')[0],
      );
    expect(refused((spec) => Object.assign(spec, { parallelism: 4, backoffLimit: 1 }))).toEqual([]);
    expect(refused((spec) => Object.assign(spec, { completions: 4 }))).toEqual([
      'spec.completions',
    ]);
    expect(refused((spec) => Object.assign(spec.selector!.matchLabels!, generated))).toEqual([
      'spec.selector',
    ]);
    expect(
      refused((spec) => Object.assign(spec.template.spec!.containers![0]!, { image: 'b' })),
    ).toEqual(['spec.template']);
  });

  it('show their progress', () => {
    const { object } = createJob({ parallelism: 3 });
    expect(cells(job, object)).toMatchObject({
      Completions: '0/1 of 3',
      Duration: '',
      Selector: `controller-uid=${uid}`,
    });
    object.status = { succeeded: 2, startTime: '2026-01-02T03:00:05Z' };
    expect(cells(job, object).Duration).toBe('4m');
    object.status.completionTime = '2026-01-02T03:01:05Z';
    object.spec!.completions = 5;
    expect(cells(job, object)).toMatchObject({ Completions: '2/5', Duration: '60s' });
    expect(job.selectableFields?.['status.successful']?.(object)).toBe('2');
    const errors = job.status?.validateUpdate?.(
      { status: { active: -1, failed: -1 } } as Job,
      {},
      requestContext(),
    );
    expect(errors?.map(({ field }) => field)).toEqual(['status.active', 'status.failed']);
  });
});

describe('cron jobs', () => {
  const cron = { schedule: '0 3 * * 1', jobTemplate: { spec: good } };
  const [, beta] = cronJob.versions;
  const errorsOf = (spec: object) => create(cronJob, { spec: { ...cron, ...spec } }).errors;

  it('get defaults, their job templates do not', () => {
    for (const version of cronJob.versions) {
      const { object, errors } = create<CronJob>(cronJob, { spec: cron }, version);
      expect(errors).toEqual([]);
      expect(object).toMatchObject({
        spec: {
          concurrencyPolicy: 'Allow',
          suspend: false,
          successfulJobsHistoryLimit: 3,
          failedJobsHistoryLimit: 1,
          jobTemplate: { spec: { template: { spec: { dnsPolicy: 'ClusterFirst' } } } },
        },
        status: {},
      });
      expect(object.spec?.jobTemplate.spec).not.toHaveProperty('backoffLimit');
      expect(object.spec?.jobTemplate.spec).not.toHaveProperty('parallelism');
      expect(object.spec?.jobTemplate.spec?.template.spec?.containers?.[0]?.imagePullPolicy).toBe(
        'IfNotPresent',
      );
    }
  });

  it.each<[object, string[]]>([
    [{ schedule: '' }, ['spec.schedule: Required value']],
    [
      { schedule: 'x' },
      ['spec.schedule: Invalid value: "x": Expected exactly 5 fields, found 1: x'],
    ],
    [
      { concurrencyPolicy: 'x' },
      [
        'spec.concurrencyPolicy: Unsupported value: "x": supported values: "Allow", "Forbid", "Replace"',
      ],
    ],
    [
      { startingDeadlineSeconds: -1, successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1 },
      [
        notNegative('spec.startingDeadlineSeconds'),
        notNegative('spec.successfulJobsHistoryLimit'),
        notNegative('spec.failedJobsHistoryLimit'),
      ],
    ],
    [
      { jobTemplate: { spec: { ...good, manualSelector: true, selector: {}, backoffLimit: -1 } } },
      [
        notNegative('spec.jobTemplate.spec.backoffLimit'),
        like(
          /^spec\.jobTemplate\.spec\.selector: Invalid value: .*: `selector` will be auto-generated$/,
        ),
        'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
      ],
    ],
  ])('reject %j', (spec, messages) => {
    expect(errorsOf(spec)).toEqual(messages);
  });

  it('limit the length of their name', () => {
    const named = (length: number) =>
      create<CronJob>(cronJob, { metadata: { name: 'n'.repeat(length) }, spec: cron });
    expect(named(52).errors).toEqual([]);
    expect(named(53).errors).toEqual([like(/: must be no more than 52 characters$/)]);
    expect(update(cronJob, named(53).object, () => undefined).errors).toEqual([]);
  });

  it('differ between versions in propagation and field selectors', () => {
    expect(cronJob.defaultPropagation).toBeUndefined();
    expect(beta).toMatchObject({
      defaultPropagation: 'orphan',
      emptySelectableFields: ['status.successful'],
      deprecation: { since: '1.21', unavailableFrom: '1.25' },
    });
  });

  it('show the time of the last job', () => {
    const { object } = create<CronJob>(cronJob, { spec: cron });
    expect(cells(cronJob, object)).toMatchObject({
      Schedule: '0 3 * * 1',
      Suspend: 'False',
      Active: 0,
      'Last Schedule': '<none>',
      Selector: '<none>',
    });
    object.status = { active: [{}], lastScheduleTime: '2026-01-02T03:04:00Z' };
    expect(cells(cronJob, object)).toMatchObject({ Active: 1, 'Last Schedule': '5s' });
  });
});
