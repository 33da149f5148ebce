/** Output that gathers until the next `takeOutput`. */

import type { Message, RefusalCode } from '../messages.js';
import type {
  MembershipResult,
  Output,
  ReadRequest,
  TransferResult,
  WriteRequest,
} from '../output.js';
import type { Configuration, Entry, Leadership, MemberId, SnapshotPoint } from '../types.js';

/** Parts of the output that are computed when it is taken. */
export interface Computed {
  readonly write: WriteRequest | undefined;
  readonly committed: readonly Entry[];
  readonly install: SnapshotPoint | undefined;
  readonly leadership: Leadership | undefined;
  readonly configuration: Configuration | undefined;
}

type ReadState = Output['readStates'][number];
type Refusal = Output['refusals'][number];

export class Outbox {
  messages: Message[] = [];
  readStates: ReadState[] = [];
  refusals: Refusal[] = [];
  reads: ReadRequest[] = [];
  snapshotsToSend: MemberId[] = [];
  snapshotsRefused: SnapshotPoint[] = [];
  membershipResults: MembershipResult[] = [];
  transferResults: TransferResult[] = [];

  refuse(ids: readonly number[], code: RefusalCode): void {
    if (ids.length > 0) this.refusals.push({ ids, code });
  }

  take(computed: Computed): Output {
    const output: Output = {
      write: computed.write,
      messages: this.messages,
      committed: computed.committed,
      readStates: this.readStates,
      refusals: this.refusals,
      reads: this.reads,
      snapshotsToSend: this.snapshotsToSend,
      install: computed.install,
      snapshotsRefused: this.snapshotsRefused,
      membershipResults: this.membershipResults,
      transferResults: this.transferResults,
      leadership: computed.leadership,
      configuration: computed.configuration,
    };
    this.messages = [];
    this.readStates = [];
    this.refusals = [];
    this.reads = [];
    this.snapshotsToSend = [];
    this.snapshotsRefused = [];
    this.membershipResults = [];
    this.transferResults = [];
    return output;
  }
}
