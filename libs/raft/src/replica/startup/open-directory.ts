/**
 * From a directory, new or used, to what a replica starts from. A new one becomes that of a member
 * of a new cluster or of one that was added to a running cluster; a used one must fit the state and
 * the flags.
 */
import type { Logger, LoopClock } from '@orch/component';
import { membersOf } from '../../core/configuration/members.js';
import type { InitialState } from '../../core/core-options.js';
import { logOrigin } from '../../core/log/entry-checksum.js';
import type { Configuration, Member, MemberId } from '../../core/types.js';
import type { AppliedState } from '../../replicated-log.js';
import type { LogStore } from '../../storage/log-store.js';
import type { RecoveredLog } from '../../storage/stored-log.js';
import type { Transport } from '../../transport/transport.js';
import { type Bootstrap, badConfiguration, bootstrapCluster, randomId } from './bootstrap.js';
import {
  checkFresh,
  checkMember,
  isBehindInstalled,
  latestOf,
  reconcile,
} from './directory-check.js';
import { joinCluster } from './join.js';
import type { ReplicaIdentityOptions } from './replica-options.js';

export interface OpenDirectoryDependencies {
  readonly identity: ReplicaIdentityOptions;
  readonly openStore: () => LogStore;
  readonly transport: Transport | undefined;
  readonly clock: LoopClock;
  readonly random: () => number;
  readonly logger: Logger;
}

export interface OpenedDirectory {
  readonly store: LogStore;
  readonly stored: RecoveredLog;
  readonly initial: InitialState;
  /** With the addresses given at this start. */
  readonly self: Member;
}

/**
 * Rejects with LogError `BadDirectory`, `BadConfiguration`, `Corrupt` or, when joining, `NoQuorum`.
 */
export async function openDirectory(
  parts: OpenDirectoryDependencies,
  state: AppliedState,
): Promise<OpenedDirectory> {
  let store = parts.openStore();
  try {
    let stored = await store.load();
    if (!stored) {
      checkFresh(state);
      stored = await createLog(parts, store);
    } else if (isBehindInstalled(stored, state)) {
      parts.logger.warn(
        { index: state.installed!.index },
        'moving the log up to the snapshot that was installed before the last end',
      );
      await store.moveTo(state.installed!);
      await store.close();
      store = parts.openStore();
      stored = (await store.load())!;
    }
    checkMember(stored, parts.identity.memberName);
    const { appliedIndex, needsSnapshot } = reconcile(stored, state);
    const initial = { ...stored, appliedIndex, needsSnapshot, mayVote: stored.admitted };
    const self = selfOf(stored, parts.identity);
    checkTransport(stored, parts);
    return { store, stored, initial, self };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function createLog(parts: OpenDirectoryDependencies, store: LogStore): Promise<RecoveredLog> {
  const { identity, transport, clock, random, logger } = parts;
  const { memberName, peerUrl, initialMembers, initialState, clusterToken } = identity;
  let found: Bootstrap;
  if (initialState === 'new') {
    found = bootstrapCluster(clusterToken, initialMembers, memberName);
    if (found.self.peerUrl !== peerUrl) {
      throw badConfiguration(
        `the initial members have ${memberName} at ${found.self.peerUrl}, but it advertises ${peerUrl}: give it one address`,
      );
    }
  } else {
    if (!transport) throw badConfiguration('joining a cluster needs the peer certificates');
    found = await joinCluster({ name: memberName, peerUrl }, initialMembers, transport, clock);
  }
  const { clusterId, self } = found;
  // One that joins is a member once the log says so: until then its absence does not mean its
  // removal.
  const configuration =
    initialState === 'new' ? found.configuration : without(found.configuration, self.id);
  const storageId = randomId(random);
  // A joining member has no vote before the leader promotes it, so it has promised nothing.
  const admitted = initialState === 'join' || configuration.voters.length === 1;
  logger.info({ clusterId, memberId: self.id, storageId, initialState }, 'made a new log');
  return store.create(
    { clusterId, memberId: self.id, storageId },
    { ...logOrigin, configuration },
    admitted,
  );
}

function without({ voters, learners }: Configuration, id: MemberId): Configuration {
  return { voters, learners: learners.filter((learner) => learner.id !== id) };
}

function selfOf(stored: RecoveredLog, options: ReplicaIdentityOptions): Member {
  const { memberName, peerUrl, clientUrl } = options;
  const { memberId } = stored.identity;
  const known = membersOf(latestOf(stored)).find(({ id }) => id === memberId);
  return { id: memberId, name: known?.name ?? memberName, peerUrl, clientUrl };
}

function checkTransport(stored: RecoveredLog, { transport }: OpenDirectoryDependencies): void {
  const count = membersOf(latestOf(stored)).length;
  if (count > 1 && !transport) {
    throw badConfiguration(
      `this cluster has ${count} members, which talk over mutual TLS: give the peer certificate, key and authority`,
    );
  }
}
