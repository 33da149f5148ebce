/**
 * Two locks that are held together, for the change from one kind of lock to another: processes with
 * only the first lock and processes with only the second one both see the holder. If the locks name
 * different holders, the holder is unknown: no process acquires before the lease of both has
 * expired.
 */
import type { CallOptions } from '../rest/resource-client.js';
import type { ElectionLock, ElectionRecord, ObservedRecord } from './election-lock.js';

/** The holder if the two locks disagree. Not an identity of a process. */
export const unknownHolder = 'unknown: the two locks name different holders';

export class DoubleLock implements ElectionLock {
  constructor(
    private readonly primary: ElectionLock,
    private readonly secondary: ElectionLock,
  ) {}

  async read(call: CallOptions): Promise<ObservedRecord | undefined> {
    const primary = await this.primary.read(call);
    const secondary = await this.secondary.read(call);
    // Only processes with the secondary lock alone have run so far.
    if (!primary) return secondary;
    // The holder has the primary lock alone, or has stopped between its two writes.
    return secondary ? combined(primary, secondary) : primary;
  }

  async write(record: ElectionRecord, call: CallOptions): Promise<ObservedRecord> {
    // Every process writes in this order, so that one of two candidates fails at its first write.
    const primary = await this.primary.write(record, call);
    return combined(primary, await this.secondary.write(record, call));
  }
}

function combined(primary: ObservedRecord, secondary: ObservedRecord): ObservedRecord {
  const agree = primary.holderIdentity === secondary.holderIdentity;
  return {
    ...primary,
    holderIdentity: agree ? primary.holderIdentity : unknownHolder,
    leaseDurationSeconds: Math.max(primary.leaseDurationSeconds, secondary.leaseDurationSeconds),
    renewal: `${primary.renewal} ${secondary.renewal}`,
  };
}
