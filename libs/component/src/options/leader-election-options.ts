/** Flags of processes of which only one replica may be active at a time. */
import { IsIn, IsNotEmpty, Min } from 'class-validator';
import { dialect } from '../dialect/dialect.js';
import { Flag } from './flag.js';
import { ValueError } from './values.js';

const leaderElectionLocks = [
  'leases',
  'endpoints',
  'configmaps',
  'endpointsleases',
  'configmapsleases',
] as const;
export type LeaderElectionLock = (typeof leaderElectionLocks)[number];

export class LeaderElectionOptions {
  @Flag({
    name: 'leader-elect',
    description: 'run only while holding the lease; required if several replicas run',
    default: true,
  })
  enabled!: boolean;

  @Flag({
    name: 'leader-elect-lease-duration',
    description:
      'time without a renewal after which other candidates take the lease. Higher: longer outage after a crash. Lower: short delays change the leader.',
    default: '15s',
    type: 'duration',
  })
  @Min(1_000)
  leaseDurationMs!: number;

  @Flag({
    name: 'leader-elect-renew-deadline',
    description:
      'time for which the leader retries a renewal before it stops leading; must be less than the lease duration. Higher: less margin to the lease duration. Lower: short delays end the leadership.',
    default: '10s',
    type: 'duration',
  })
  @Min(100)
  renewDeadlineMs!: number;

  @Flag({
    name: 'leader-elect-retry-period',
    description:
      'pause between attempts to acquire or renew the lease. Higher: fewer attempts within the deadline. Lower: more requests.',
    default: '2s',
    type: 'duration',
  })
  @Min(100)
  retryPeriodMs!: number;

  @Flag({
    name: 'leader-elect-resource-lock',
    description:
      'resource of the lock object; endpointsleases and configmapsleases hold two locks, for the change from one to the other',
    default: 'leases',
    type: 'string',
  })
  @IsIn(leaderElectionLocks)
  resourceLock!: LeaderElectionLock;

  @Flag({
    name: 'leader-elect-resource-name',
    description: 'name of the lock object; empty: the name of the component',
    default: '',
  })
  resourceName!: string;

  @Flag({
    name: 'leader-elect-resource-namespace',
    description: 'namespace of the lock object',
    default: () => dialect().systemNamespace,
  })
  @IsNotEmpty()
  resourceNamespace!: string;

  /** Throws `ValueError` if the durations are inconsistent or the lock is unknown. */
  checkRelations(): void {
    if (!leaderElectionLocks.includes(this.resourceLock)) {
      throw new ValueError(
        `--leader-elect-resource-lock: ${this.resourceLock} is unknown; use ${leaderElectionLocks.join(', ')}`,
      );
    }
    if (this.renewDeadlineMs >= this.leaseDurationMs) {
      throw new ValueError(
        '--leader-elect-renew-deadline: must be less than --leader-elect-lease-duration, otherwise two leaders can be active',
      );
    }
    if (this.retryPeriodMs * 1.2 >= this.renewDeadlineMs) {
      throw new ValueError(
        '--leader-elect-retry-period: must be less than --leader-elect-renew-deadline / 1.2, otherwise renewals miss the deadline',
      );
    }
  }
}
