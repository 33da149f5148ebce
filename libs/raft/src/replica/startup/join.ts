/**
 * Makes an empty directory that of a member which was added to a running cluster: requests the
 * cluster id and the member from the initial members and the members that they list.
 *
 * Invariant: a new member is distinguished from a voter whose directory was wiped. For that, a
 * majority of the voters must respond: one of them knows every committed promotion.
 */
import type { LoopClock } from '@orch/component';
import { membersOf } from '../../core/configuration/members.js';
import { joinRoundTimeoutMs, joinTimeoutMs } from '../../limits.js';
import { LogError, type LogStatus } from '../../replicated-log.js';
import type { Transport } from '../../transport/transport.js';
import { type Bootstrap, badConfiguration, type InitialMember } from './bootstrap.js';

export interface Joiner {
  readonly name: string;
  readonly peerUrl: string;
}

/**
 * Rejects with LogError `BadConfiguration` (not added, or with another address), `BadDirectory`
 * (its directory was wiped) or `NoQuorum` (too few members responded in time).
 */
export async function joinCluster(
  joiner: Joiner,
  known: readonly InitialMember[],
  transport: Pick<Transport, 'requestStatusAt'>,
  clock: LoopClock,
): Promise<Bootstrap> {
  const deadlineMs = clock.monotonicMs() + joinTimeoutMs;
  const urls = new Set(known.map(({ peerUrl }) => peerUrl));
  urls.delete(joiner.peerUrl);
  const failures = new Map<string, string>();
  for (;;) {
    const answers = new Map<string, LogStatus>();
    // Queries the members that the first ones list as well.
    for (let asked = 0; asked < urls.size; ) {
      const next = [...urls].slice(asked);
      asked = urls.size;
      await Promise.all(next.map((url) => ask(url)));
      for (const { configuration } of answers.values()) {
        for (const { peerUrl } of membersOf(configuration)) {
          if (peerUrl !== joiner.peerUrl) urls.add(peerUrl);
        }
      }
    }
    const newest = newestOf([...answers.values()]);
    if (newest !== undefined && answeredByMajority(newest, answers)) return find(joiner, newest);
    if (clock.monotonicMs() + joinRoundTimeoutMs > deadlineMs) throw tooFew(failures);
    await new Promise<void>((resolve) => clock.setTimer(joinRoundTimeoutMs, resolve));

    async function ask(url: string): Promise<void> {
      try {
        const { status, error } = await transport.requestStatusAt(
          url,
          Math.min(deadlineMs, clock.monotonicMs() + joinRoundTimeoutMs),
        );
        if (status) answers.set(status.self.id, status);
        else failures.set(url, error ?? 'it has not started');
      } catch (error) {
        failures.set(url, error instanceof Error ? error.message : String(error));
      }
    }
  }
}

function newestOf(answers: readonly LogStatus[]): LogStatus | undefined {
  let newest: LogStatus | undefined;
  for (const answer of answers) {
    if (newest !== undefined && answer.clusterId !== newest.clusterId) {
      throw badConfiguration(
        `${newest.self.peerUrl} and ${answer.self.peerUrl} are of different clusters (${newest.clusterId}, ${answer.clusterId}): name members of one cluster`,
      );
    }
    if (newest === undefined || answer.commitIndex > newest.commitIndex) newest = answer;
  }
  return newest;
}

function answeredByMajority(newest: LogStatus, answers: ReadonlyMap<string, LogStatus>): boolean {
  const { voters, outgoing = voters } = newest.configuration;
  return [voters, outgoing].every(
    (half) => half.filter(({ id }) => answers.has(id)).length > half.length / 2,
  );
}

function find(joiner: Joiner, { clusterId, configuration }: LogStatus): Bootstrap {
  const self = membersOf(configuration).find(({ name }) => name === joiner.name);
  if (!self) {
    throw badConfiguration(
      `cluster ${clusterId} has no member ${joiner.name}: add it with the peer URL ${joiner.peerUrl} first, then start this again`,
    );
  }
  if (self.peerUrl !== joiner.peerUrl) {
    throw badConfiguration(
      `cluster ${clusterId} knows member ${joiner.name} at ${self.peerUrl}, not ${joiner.peerUrl}: advertise that address, or add the member again`,
    );
  }
  if (!configuration.learners.some(({ id }) => id === self.id)) {
    throw new LogError(
      'BadDirectory',
      `member ${joiner.name} has a vote in cluster ${clusterId}, but this directory is empty: its votes are lost. Remove the member, add it again, then restart this process`,
    );
  }
  return { clusterId, self, configuration };
}

function tooFew(failures: ReadonlyMap<string, string>): LogError {
  const reasons = [...failures].map(([url, reason]) => `${url}: ${reason}`).join('; ');
  return new LogError(
    'NoQuorum',
    `no majority of the cluster to join has responded (${reasons}): check the addresses and that it runs`,
  );
}
