/** A consistent view of a state database, streamed at the reader's pace while writes go on. */
import { type LogIndex, type OutgoingSnapshot, type Rows } from '@orch/raft';
import type { Facts } from '../core/state-machine.js';
import type { LiveState } from '../shell/live-state.js';
import { StoreError } from '../versioned-store.js';
import { writeStateStream } from './state-stream.js';

export interface OutgoingState extends OutgoingSnapshot {
  readonly facts: Facts;
}

/**
 * Everything applied before the call is in it. When the state is replaced before the result is closed,
 * its `next` rejects. Throws StoreError (Corrupt) where the database does not say what it holds.
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
    // Written before anything else is.
    if (!facts) throw new StoreError('Corrupt', 'the facts of the state are missing');
    sources.push(database.proposerRows(view), database.versionRows(0, facts.revision, view));
    const sweptRevision = await database.readSwept(view);
    const chunks = writeStateStream({ facts, sweptRevision }, [...sources]);
    return {
      appliedIndex: facts.appliedIndex as LogIndex,
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
