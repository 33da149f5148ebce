import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clusterOf, cycleOf, decide, info, node } from '../testing/builders.js';
import { readPolicy } from './policy.js';
import { readConfiguration } from './scheduler-configuration.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'scheduler-configuration-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function fileOf(content: object | string): string {
  const file = join(directory, 'config.yaml');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const head = { apiVersion: 'scheduler.config.orch.io/v1beta1', kind: 'SchedulerConfiguration' };
const defaults = { schedulerName: 'default-scheduler', hasDefaultSpread: true };
const read = (fields: object) => readConfiguration(fileOf({ ...head, ...fields }), defaults);
const profileWith = (point: string, set: object) => ({ profiles: [{ plugins: { [point]: set } }] });

describe('a configuration file', () => {
  it('has the default plugins without profiles', () => {
    const { profiles, percentageOfNodesToScore, backoffMaxMs } = read({});
    expect(profiles.map(({ schedulerName }) => schedulerName)).toEqual(['default-scheduler']);
    expect(profiles[0]!.filters).toHaveLength(15);
    expect(profiles[0]!.scores.map(({ plugin, weight }) => [plugin.name, weight])).toContainEqual([
      'PodTopologySpread',
      2,
    ]);
    expect({ percentageOfNodesToScore, backoffMaxMs }).toEqual({
      percentageOfNodesToScore: 0,
      backoffMaxMs: 10_000,
    });
  });

  it('removes default plugins and appends others with their weights and arguments', () => {
    const [profile] = read({
      profiles: [
        {
          plugins: {
            filter: { disabled: [{ name: '*' }], enabled: [{ name: 'NodeName' }] },
            score: {
              disabled: [{ name: '*' }],
              enabled: [{ name: 'NodeResourcesMostAllocated', weight: 5 }],
            },
          },
          pluginConfig: [
            {
              name: 'NodeResourcesMostAllocated',
              args: { resources: [{ name: 'memory', weight: 3 }] },
            },
          ],
        },
      ],
    }).profiles;
    expect(profile!.filters.map(({ name }) => name)).toEqual(['NodeName']);
    expect(profile!.scores).toMatchObject([{ weight: 5 }]);
    const cluster = clusterOf(node('small', { allocatable: { memory: '1Gi' } }), node('large'));
    expect(decide(cycleOf(info({ requests: { memory: '512Mi' } }), cluster), profile)).toBe(
      'small',
    );
  });

  it('sets the process and reports fields without effect', () => {
    const { process, warnings } = read({
      parallelism: 4,
      clientConnection: { kubeconfig: '/k', qps: 10 },
      leaderElection: { leaderElect: false, leaseDuration: '20s' },
    });
    expect(process).toMatchObject({
      kubeconfig: '/k',
      qps: 10,
      election: { enabled: false, leaseDurationMs: 20_000 },
    });
    expect(warnings).toEqual([expect.stringContaining('parallelism has no effect')]);
  });

  it.each([
    [{ kind: 'Other' }, /not a SchedulerConfiguration of/],
    [{ profile: [] }, /unknown field profile$/],
    [{ profiles: {} }, /profiles is not a list/],
    [profileWith('filter', { enabled: [{ name: 'Nope' }] }), /unknown plugin Nope; known are/],
    [profileWith('fliter', {}), /unknown field profiles\[0\]\.plugins\.fliter/],
    [
      profileWith('filter', { enabled: [{ name: 'ImageLocality' }] }),
      /plugin ImageLocality does not extend filter/,
    ],
    [
      profileWith('filter', { enabled: [{ name: 'NodeName' }] }),
      /plugin NodeName is enabled twice at filter/,
    ],
    [
      profileWith('score', { enabled: [{ name: 'SelectorSpread', weight: -1 }] }),
      /weight: -1 is not a whole number/,
    ],
    [profileWith('bind', { disabled: [{ name: '*' }] }), /at least one bind plugin/],
    [profileWith('queueSort', { disabled: [{ name: '*' }] }), /exactly one queueSort plugin/],
    [profileWith('reserve', { disabled: [{ name: '*' }] }), /at preBind but not at reserve/],
    [{ profiles: [{ schedulerName: 'a' }, { schedulerName: 'a' }] }, /duplicate name a/],
    [{ profiles: [{ schedulerName: 'a' }, {}] }, /schedulerName: is required/],
    [
      { profiles: [{ pluginConfig: [{ name: 'NodeName', args: { x: 1 } }] }] },
      /unknown field .*args\.x/,
    ],
    [
      {
        profiles: [
          { pluginConfig: [{ name: 'PodTopologySpread', args: { defaultingType: 'Some' } }] },
        ],
      },
      /Some is not System or List/,
    ],
    [{ percentageOfNodesToScore: 101 }, /101 is not a whole number, 0 to 100/],
    [{ podInitialBackoffSeconds: 20 }, /must not be less than podInitialBackoffSeconds/],
    [{ extenders: [{ urlPrefix: 'nowhere' }] }, /nowhere is not a URL/],
    [
      { extenders: [{ urlPrefix: 'http://a', prioritizeVerb: 'p' }] },
      /weight: must be positive if prioritizeVerb/,
    ],
    [
      {
        extenders: [
          { urlPrefix: 'http://a', bindVerb: 'b' },
          { urlPrefix: 'http://b', bindVerb: 'b' },
        ],
      },
      /only one extender can implement bind/,
    ],
  ])('is rejected with %j', (fields, message) => {
    expect(() => read(fields)).toThrow(message);
  });

  it('is rejected if it is not YAML or does not exist', () => {
    expect(() => readConfiguration(fileOf('{ a: ['), defaults)).toThrow(/config\.yaml: /);
    expect(() => readConfiguration(join(directory, 'none'), defaults)).toThrow(/cannot read/);
  });
});

describe('a policy file', () => {
  const policy = (fields: object) =>
    readPolicy(fileOf({ apiVersion: 'v1', kind: 'Policy', ...fields }), 'default-scheduler', {
      hasDefaultSpread: true,
      ignoredResources: [],
    }).profiles[0]!;

  it('names plugins by predicates and priorities, with the mandatory filters', () => {
    const profile = policy({
      predicates: [
        { name: 'PodFitsResources' },
        { name: 'disks', argument: { labelsPresence: { labels: ['ssd'], presence: true } } },
      ],
      priorities: [{ name: 'MostRequestedPriority', weight: 2 }],
    });
    expect(profile.filters.map(({ name }) => name)).toEqual([
      ...['NodeUnschedulable', 'TaintToleration', 'NodeResourcesFit', 'NodeLabel'],
    ]);
    expect(profile.scores).toMatchObject([
      { plugin: { name: 'NodeResourcesMostAllocated' }, weight: 2 },
    ]);
    const cluster = clusterOf(node('plain'), node('fast', { labels: { ssd: '' } }));
    expect(decide(cycleOf(info(), cluster), profile)).toBe('fast');
  });

  it('has the default plugins without lists', () => {
    expect(policy({}).filters).toHaveLength(15);
  });

  it('is rejected with an unknown predicate', () => {
    expect(() => policy({ predicates: [{ name: 'Nope' }] })).toThrow(/unknown predicate Nope/);
  });
});
