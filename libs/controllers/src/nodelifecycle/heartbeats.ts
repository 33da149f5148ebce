/**
 * The last heartbeat of each node: a renewed lease or a newer status. Pure: the time is the one at
 * which this process observed the change, by its monotonic clock, because clocks of nodes differ.
 */
import { conditionOf } from '@orch/apimachinery';
import type { Lease } from '@orch/types/coordination/v1';
import type { Node } from '@orch/types/core/v1';

interface Heartbeat {
  /** The last observed values; a change of one of the first two is a heartbeat. */
  status: string;
  lease: string;
  readiness: string;
  seenMs: number;
  readinessSinceMs: number;
}

/** Grace periods after which a silent node counts as lost. */
export interface HeartbeatOptions {
  /** For a node that has reported before. */
  readonly monitorMs: number;
  /** For a node that has never reported. */
  readonly startupMs: number;
}

export interface NodeHealth {
  /** Whether the node has been silent for longer than its grace period. */
  readonly isSilent: boolean;
  /** Time since the last heartbeat. */
  readonly silentMs: number;
  /** Time since the last transition of the condition `Ready`. */
  readonly steadyMs: number;
}

export class Heartbeats {
  private readonly byNode = new Map<string, Heartbeat>();

  constructor(private readonly options: HeartbeatOptions) {}

  observe(node: Node, lease: Lease | undefined, nowMs: number): NodeHealth {
    const name = node.metadata?.name ?? '';
    const ready = conditionOf(node.status?.conditions, 'Ready');
    // Our own marking as unknown is no sign of life: it leaves the heartbeat's time alone.
    const status = `${node.metadata?.uid}/${ready?.lastHeartbeatTime ?? ''}`;
    const readiness = `${ready?.status}/${ready?.lastTransitionTime ?? ''}`;
    const renewal = lease?.spec?.renewTime ?? '';
    const known = this.byNode.get(name);
    if (!known) {
      const times = { seenMs: nowMs, readinessSinceMs: nowMs };
      this.byNode.set(name, { status, lease: renewal, readiness, ...times });
      return { isSilent: false, silentMs: 0, steadyMs: 0 };
    }
    const isNever = ready === undefined || ready.reason === 'NodeStatusNeverUpdated';
    const isAlive = (!isNever && known.status !== status) || known.lease !== renewal;
    if (isAlive) known.seenMs = nowMs;
    if (known.readiness !== readiness) known.readinessSinceMs = nowMs;
    known.status = status;
    known.lease = renewal;
    known.readiness = readiness;
    const graceMs = isNever && renewal === '' ? this.options.startupMs : this.options.monitorMs;
    const silentMs = nowMs - known.seenMs;
    return { isSilent: silentMs > graceMs, silentMs, steadyMs: nowMs - known.readinessSinceMs };
  }

  /** After a time in which nothing could be seen, everyone gets a new grace period. */
  reset(nowMs: number): void {
    for (const heartbeat of this.byNode.values()) {
      heartbeat.seenMs = nowMs;
      heartbeat.readinessSinceMs = nowMs;
    }
  }

  forget(nodeName: string): void {
    this.byNode.delete(nodeName);
  }
}
