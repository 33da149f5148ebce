/** Election records in Endpoints objects. Pure. */
import { electionRecordKey } from '@orch/client';
import type { Endpoints } from '@orch/types/core/v1';

/**
 * Processes with the lock `endpoints` store their election record in Endpoints without a service.
 */
export function isElectionLock(endpoints: Endpoints): boolean {
  return endpoints.metadata?.annotations?.[electionRecordKey()] !== undefined;
}
