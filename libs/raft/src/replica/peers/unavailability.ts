/** Why writes cannot be taken now, in words for an operator. */
import type { Clock } from '@orch/component';
import type { Leadership, Member, MemberId } from '../../core/types.js';

export interface UnavailabilityFacts {
  readonly failed: string | undefined;
  readonly leadership: Leadership;
  /** Names of members that a fresh replica has still to meet. */
  readonly missing: readonly string[];
  readonly foreign: ReadonlySet<MemberId>;
  readonly needsSnapshot: boolean;
  readonly members: readonly Member[];
}

export class Unavailability {
  private leaderlessSinceMs: number | undefined;
  private readonly unreachablePeers = new Map<MemberId, string>();

  constructor(private readonly clock: Clock) {
    this.leaderlessSinceMs = clock.monotonicMs();
  }

  led(leadership: Leadership): void {
    if (leadership.leader !== undefined) this.leaderlessSinceMs = undefined;
    else this.leaderlessSinceMs ??= this.clock.monotonicMs();
  }

  reached(peer: MemberId): void {
    this.unreachablePeers.delete(peer);
  }

  unreachable(peer: MemberId, reason: string): void {
    this.unreachablePeers.set(peer, reason);
  }

  /** Forgets peers that are no longer members. */
  keepOnly(members: readonly Member[]): void {
    for (const id of this.unreachablePeers.keys()) {
      if (!members.some((member) => member.id === id)) this.unreachablePeers.delete(id);
    }
  }

  reason(facts: UnavailabilityFacts): string | undefined {
    const { failed, leadership, missing, needsSnapshot } = facts;
    if (failed !== undefined) return failed;
    if (leadership.role === 'removed') return 'this member was removed from the cluster';
    const troubles = this.troubles(facts);
    if (missing.length > 0) {
      return `this member's directory is new and waits to meet ${missing.join(', ')}${troubles}`;
    }
    if (leadership.leader === undefined) {
      const sinceMs = this.clock.monotonicMs() - (this.leaderlessSinceMs ?? 0);
      const seconds = Math.round(sinceMs / 1_000);
      return `no leader is known for ${seconds} s${troubles}`;
    }
    if (needsSnapshot) return 'this member waits for the state from the leader';
    return undefined;
  }

  private troubles({ foreign, members }: UnavailabilityFacts): string {
    const troubles: string[] = [];
    for (const { id, name } of members) {
      const reason = foreign.has(id) ? 'belongs to another cluster' : this.unreachablePeers.get(id);
      if (reason !== undefined) troubles.push(`${name}: ${reason}`);
    }
    return troubles.length === 0 ? '' : ` (${troubles.join('; ')})`;
  }
}
