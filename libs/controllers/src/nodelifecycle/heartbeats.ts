/**
 * When each node last gave a sign of life. Pure: by our own monotonic clock, counted from when we saw a
 * renewed lease or a newer status, never by the times written in them (clocks of nodes differ).
 */
import { conditionOf } from '@orch/apimachinery';
import type { Lease } from '@orch/types/coordination/v1';
import type { Node } from '@orch/types/core/v1';

interface Heartbeat {
  /** What was last seen; any change is a sign of life. */
  status: string;
  lease: string;
  seenMs: number;
}

export interface GracePeriods {
  /** Of a node that has reported before. */
  readonly monitorMs: number;
  /** Of one that never has. */
  readonly startupMs: number;
}

export class Heartbeats {
  private readonly byNode = new Map<string, Heartbeat>();

  constructor(private readonly grace: GracePeriods) {}

  /** @returns whether the node has been silent for too long. */
  observe(node: Node, lease: Lease | undefined, nowMs: number): boolean {
    const name = node.metadata?.name ?? '';
    const ready = conditionOf(node.status?.conditions, 'Ready');
    // Our own marking as unknown is no sign of life: it leaves the heartbeat's time alone.
    const status = `${node.metadata?.uid}/${ready?.lastHeartbeatTime ?? ''}`;
    const renewal = lease?.spec?.renewTime ?? '';
    const known = this.byNode.get(name);
    if (!known) {
      this.byNode.set(name, { status, lease: renewal, seenMs: nowMs });
      return false;
    }
    const isNever = ready === undefined || ready.reason === 'NodeStatusNeverUpdated';
    const isAlive = (!isNever && known.status !== status) || known.lease !== renewal;
    known.status = status;
    known.lease = renewal;
    if (isAlive) known.seenMs = nowMs;
    const graceMs = isNever && renewal === '' ? this.grace.startupMs : this.grace.monitorMs;
    return nowMs - known.seenMs > graceMs;
  }

  /** After a time in which nothing could be seen, everyone gets a new grace period. */
  reset(nowMs: number): void {
    for (const heartbeat of this.byNode.values()) heartbeat.seenMs = nowMs;
  }

  forget(nodeName: string): void {
    this.byNode.delete(nodeName);
  }
}
