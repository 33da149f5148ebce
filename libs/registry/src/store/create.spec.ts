import { type ApiObject, definitions } from '@orch/api';
import { StatusError } from '@orch/apimachinery';
import { createLogger, FeatureGates, Metrics, systemClock } from '@orch/component';
import { type Entry, noRevision, type ReadWriteStore } from '@orch/store';
import { describe, expect, it } from 'vitest';
import { Admission } from '../admission/admission.js';
import { AdmissionMetrics } from '../admission/admission-metrics.js';
import { generatedNameAttemptsMax } from '../limits.js';
import { ClaimIndex } from '../storage/claims.js';
import { ResourceTable } from '../table/resource-table.js';
import type { WriteContext } from '../write-context.js';
import { Registry } from './registry.js';

const logger = createLogger({ component: 'test', format: 'text', level: 'error' });
const table = new ResourceTable(definitions);
const served = table.find('', 'v1', 'configmaps')!;

const unused = (): never => {
  throw new Error('creating an object does not need this');
};

/** A registry over a store in which the first `taken` names that are tried are taken. */
function registryWith(taken: number): { registry: Registry; tried: string[] } {
  const tried: string[] = [];
  const bytes = Buffer.from('{}');
  const entryOf = (key: string): Entry => {
    return { key, bytes, createRevision: noRevision, revision: noRevision, derived: undefined };
  };
  const isTaken = (key: string) => {
    tried.push(key);
    return tried.length <= taken;
  };
  const store: ReadWriteStore = {
    get: async (key) => ({ entry: isTaken(key) ? entryOf(key) : undefined, revision: noRevision }),
    commit: async ([operation]) => {
      const entry = entryOf(operation!.key);
      return isTaken(entry.key)
        ? { succeeded: false, revision: noRevision, failedOperation: 0, current: entry }
        : { succeeded: true, revision: noRevision, entries: [entry] };
    },
    list: unused,
    watch: unused,
    revision: unused,
    compactedRevision: unused,
  };
  let drawn = 0;
  const registry = new Registry({
    table,
    store,
    clock: systemClock,
    features: new FeatureGates('apiserver'),
    settings: { serviceClusterIpRanges: [], serviceNodePortRange: { from: 0, to: 0 } },
    claims: new ClaimIndex(store, logger),
    admission: new Admission([], systemClock, new AdmissionMetrics(new Metrics())),
    random: () => (drawn++ * 0.618) % 1,
    newUid: () => 'uid',
    codecFor: unused,
  });
  return { registry, tried };
}

function contextOf(dryRun: boolean): WriteContext {
  return {
    now: '2026-01-01T00:00:00Z',
    user: { name: 'u', uid: '', groups: [], extra: {} },
    dryRun,
    features: new FeatureGates('apiserver'),
    fieldManager: undefined,
    pathName: '',
    deadlineMs: systemClock.monotonicMs() + 10_000,
    warnings: [],
  };
}

async function create(
  taken: number,
  metadata: { name?: string; generateName?: string },
  dryRun: boolean,
) {
  const { registry, tried } = registryWith(taken);
  try {
    const { key } = await registry.store(served).create('ns', { metadata }, contextOf(dryRun));
    return { tried, outcome: key };
  } catch (error) {
    if (error instanceof StatusError) return { tried, outcome: error.message };
    throw error;
  }
}

describe.each([false, true])('names of new objects, dry run: %s', (dryRun) => {
  it('are generated again while they are taken', async () => {
    const { tried, outcome } = await create(3, { generateName: 'a-' }, dryRun);
    expect(tried).toHaveLength(4);
    expect(new Set(tried).size).toBe(4);
    expect(outcome).toBe(tried.at(-1));
    expect(outcome).toMatch(/\/ns\/a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  it('are given up in the end', async () => {
    const { tried, outcome } = await create(1_000, { generateName: 'a-' }, dryRun);
    expect(tried).toHaveLength(generatedNameAttemptsMax);
    expect(outcome).toContain('the server was not able to generate a unique name for the object');
  });

  it('are rejected immediately if the client has chosen them', async () => {
    const { tried, outcome } = await create(1, { name: 'mine', generateName: 'a-' }, dryRun);
    expect(tried).toHaveLength(1);
    expect(outcome).toBe('configmaps "mine" already exists');
  });
});

/** What a dry run of a namespace's creation would store. */
async function namespaceCreated(metadata: ApiObject['metadata']): Promise<ApiObject> {
  const { registry } = registryWith(0);
  const namespaces = registry.store(table.find('', 'v1', 'namespaces')!);
  const entry = await namespaces.create('', { metadata }, contextOf(true));
  return JSON.parse(entry.bytes.toString()) as ApiObject;
}

describe('objects that are in no namespace', () => {
  it('lose the one they are sent with', async () => {
    const { metadata } = await namespaceCreated({ name: 'team', namespace: 'other' });
    expect(metadata).not.toHaveProperty('namespace');
  });

  it('are labelled by the name that was generated', async () => {
    const { metadata } = await namespaceCreated({ generateName: 'team-' });
    expect(metadata?.name).toMatch(/^team-.{5}$/);
    expect(metadata?.labels).toEqual({ 'orch.io/metadata.name': metadata?.name });
  });
});
