/** The building blocks of scenarios. */

import { type Revision, StoreError } from '@orch/store';
import type { Consistency, ReadRecord } from '../history/history.js';
import { inTime } from './in-time.js';
import { versionOf } from './objects.js';
import type { Operator } from './operator.js';
import type { SimNode } from './sim-node.js';
import type { Tuning } from './tuning.js';
import type { World } from './world.js';

export interface Stage {
  readonly world: World;
  readonly operator: Operator;
  /**
   * Throws when it does not come about within the simulated time: then the scenario shows nothing.
   */
  until(what: string, condition: () => boolean): Promise<void>;
}

export interface Scenario {
  readonly name: string;
  /** What went wrong. */
  readonly found: string;
  readonly memberCount: number;
  readonly tuning?: Tuning;
  /** Starts all machines and continues until the wanted moment. Clients run from the start. */
  play(stage: Stage): Promise<void>;
}

/** Nothing is scarce, and nothing is slow. */
export const steadyTuning: Tuning = {
  replica: { heartbeatMs: 50, electionMs: 500 },
  store: { historyRetentionMs: 60_000, logKeepEntries: 400 },
  clockRate: 0,
  wallSpreadMs: 0,
  clientPauseMs: 50,
  writeMs: [0, 0],
};

const readMs = 4_000;

/** Reads everything at `node`, for the checker; undefined: refused, or no result in time. */
export async function noteList(
  world: World,
  { name, store }: SimNode,
  consistency: Consistency,
): Promise<ReadRecord | undefined> {
  const { loop, notes } = world;
  const startedAt = loop.stepCount;
  const asked =
    'revision' in consistency
      ? { kind: consistency.kind, revision: consistency.revision as Revision }
      : { kind: consistency.kind };
  const listing = store!.list('', { consistency: asked, timeoutMs: readMs });
  const result = await inTime(loop, listing.catch(refused), 2 * readMs);
  if (!result) return undefined;
  const record = {
    kind: 'read' as const,
    client: 'scenario',
    replica: name,
    consistency,
    key: '',
    isList: true,
    startedAt,
    endedAt: loop.stepCount,
    revision: result.revision,
    found: result.entries.map(versionOf),
  };
  notes.reads.push(record);
  return record;
}

function refused(error: unknown): undefined {
  if (!(error instanceof StoreError)) throw error;
}
