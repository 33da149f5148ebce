/** Election records in Endpoints objects. Pure. */
import { dialect } from '@orch/component';
import type { Endpoints } from '@orch/types/core/v1';

/** Older clients store their leader election record in Endpoints without a service. */
export function isElectionLock(endpoints: Endpoints): boolean {
  const key = dialect().key('leader', 'control-plane.alpha');
  return endpoints.metadata?.annotations?.[key] !== undefined;
}
