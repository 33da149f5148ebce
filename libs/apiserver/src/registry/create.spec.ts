import { type ApiObject, definitions } from '@orch/api';
import { StatusError } from '@orch/apimachinery';
import { FeatureGates, Metrics, systemClock } from '@orch/component';
import type { Entry, Operation } from '@orch/store';
import { describe, expect, it } from 'vitest';
import { Admission } from '../admission/admission.js';
import { generatedNameAttemptsMax } from '../limits.js';
import { AdmissionMetrics } from '../observability/admission-metrics.js';
import { createObject } from './create.js';
import type { RegistryParts, WriteContext } from './registry-parts.js';
import { ResourceTable } from './resource-table.js';

const table = new ResourceTable(definitions);
const served = table.find('', 'v1', 'configmaps')!;

/** A store in which the first `taken` names that are tried are taken. */
function partsWith(taken: number): { parts: RegistryParts; tried: string[] } {
  const tried: string[] = [];
  const entryOf = (key: string) => ({ key, bytes: Buffer.from('{}') }) as unknown as Entry;
  const isTaken = (key: string) => {
    tried.push(key);
    return tried.length <= taken;
  };
  let drawn = 0;
  const parts = {
    table,
    store: {
      get: async (key: string) => ({ entry: isTaken(key) ? entryOf(key) : undefined }),
      commit: async ([{ key }]: [Operation]) =>
        isTaken(key)
          ? { succeeded: false, failedOperation: 0, current: entryOf(key) }
          : { succeeded: true, entries: [entryOf(key)] },
    },
    clock: systemClock,
    features: new FeatureGates('apiserver'),
    admission: new Admission([], systemClock, new AdmissionMetrics(new Metrics())),
    random: () => (drawn++ * 0.618) % 1,
    newUid: () => 'uid',
  };
  return { parts: parts as unknown as RegistryParts, tried };
}

function contextOf(dryRun: boolean): WriteContext {
  return {
    user: { name: 'u', groups: [] } as unknown as WriteContext['user'],
    dryRun,
    manager: undefined,
    deadlineMs: systemClock.monotonicMs() + 10_000,
    warnings: [],
  };
}

async function create(
  taken: number,
  metadata: { name?: string; generateName?: string },
  dryRun: boolean,
) {
  const { parts, tried } = partsWith(taken);
  try {
    const { key } = await createObject(parts, served, 'ns', { metadata }, contextOf(dryRun));
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

  it('are refused at once when they were chosen', async () => {
    const { tried, outcome } = await create(1, { name: 'mine', generateName: 'a-' }, dryRun);
    expect(tried).toHaveLength(1);
    expect(outcome).toBe('configmaps "mine" already exists');
  });
});

/** What a dry run of a namespace's creation would store. */
async function namespaceCreated(metadata: ApiObject['metadata']): Promise<ApiObject> {
  const { parts } = partsWith(0);
  const entry = await createObject(
    parts,
    table.find('', 'v1', 'namespaces')!,
    '',
    { metadata },
    contextOf(true),
  );
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
