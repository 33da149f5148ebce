/** Flags of processes of which only one may be active at a time. */
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
    description: 'work only while holding the lease; needed when more than one runs',
    default: true,
  })
  enabled!: boolean;

  @Flag({
    name: 'leader-elect-lease-duration',
    description:
      'how long others wait for a silent leader; higher: longer pause after its death, lower: change of leader at a short delay',
    default: '15s',
    type: 'duration',
  })
  @Min(1_000)
  leaseDurationMs!: number;

  @Flag({
    name: 'leader-elect-renew-deadline',
    description:
      'how long the leader tries to renew before it gives up; must be less than the lease duration; lower: gives up at a short delay',
    default: '10s',
    type: 'duration',
  })
  @Min(100)
  renewDeadlineMs!: number;

  @Flag({
    name: 'leader-elect-retry-period',
    description:
      'pause between attempts to get or renew the lease; higher: fewer chances within the deadline, lower: more requests',
    default: '2s',
    type: 'duration',
  })
  @Min(100)
  retryPeriodMs!: number;

  @Flag({
    name: 'leader-elect-resource-lock',
    description:
      'kind of object that holds the lease: leases; the others that earlier releases knew are refused',
    default: 'leases',
    type: 'string',
  })
  @IsIn(leaderElectionLocks)
  resourceLock!: LeaderElectionLock;

  @Flag({
    name: 'leader-elect-resource-name',
    description: 'name of that object; the name of the component when empty',
    default: '',
  })
  resourceName!: string;

  @Flag({
    name: 'leader-elect-resource-namespace',
    description: 'namespace of that object',
    default: () => dialect().systemNamespace,
  })
  @IsNotEmpty()
  resourceNamespace!: string;

  /** Throws `ValueError` when the times do not fit together, or the lock is one of those given up. */
  checkRelations(): void {
    if (this.enabled && this.resourceLock !== 'leases') {
      throw new ValueError(
        `--leader-elect-resource-lock: ${this.resourceLock} is not supported, use leases`,
      );
    }
    if (this.renewDeadlineMs >= this.leaseDurationMs) {
      throw new ValueError(
        '--leader-elect-renew-deadline: must be less than --leader-elect-lease-duration, or two leaders could work at once',
      );
    }
    if (this.retryPeriodMs * 1.2 >= this.renewDeadlineMs) {
      throw new ValueError(
        '--leader-elect-retry-period: must be well below --leader-elect-renew-deadline, or the lease is never renewed in time',
      );
    }
  }
}
