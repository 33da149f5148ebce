/** Streams a consistent view of a state database at the reader's pace, during writes. */
import { asLogIndex, type OutgoingSnapshot, type Rows } from '@orch/raft';
import type { Facts } from '../core/state-machine.js';
import type { LiveState } from '../state/live-state.js';
import { StoreError } from '../versioned-store.js';
import { writeStateStream } from './state-stream.js';

export interface OutgoingState extends OutgoingSnapshot {
  readonly facts: Facts;
}

/**
 * Streams everything applied before the call. If the state is replaced before the stream is closed,
 * its `next` rejects. Throws StoreError `Corrupt` if the facts of the database are missing.
 */
export async function openOutgoing({
  machine,
  writer,
  database,
}: Pick<LiveState, 'machine' | 'writer' | 'database'>): Promise<OutgoingState> {
  await writer.reached(machine.appliedIndex);
  const view = database.view();
  const sources: Rows[] = [];
  const close = async () => {
    for (const rows of sources.splice(0)) await rows.close();
    await view.close();
  };
  try {
    const facts = await database.readFacts(view);
    // Written before anything else.
    if (!facts) throw new StoreError('Corrupt', 'the facts of the state are missing');
    sources.push(database.proposerRows(view), database.versionRows(0, facts.revision, view));
    const sweptRevision = await database.readSwept(view);
    const chunks = writeStateStream({ facts, sweptRevision }, [...sources]);
    return {
      appliedIndex: asLogIndex(facts.appliedIndex),
      facts,
      async next() {
        const { value } = await chunks.next();
        return value ?? undefined;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
