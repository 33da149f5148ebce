/** Services take over no addresses that the cluster does not give them; those that have some may keep them. */
import type { Service } from '@orch/types/core/v1';
import { type AdmissionRule, isWriteOf, refusal } from '../admission-rule.js';

export const denyExternalIpsRule: AdmissionRule = {
  name: 'DenyServiceExternalIPs',
  validate(target) {
    if (!isWriteOf(target, 'core', 'services', ['CREATE', 'UPDATE'])) return;
    const held = new Set((target.old as Service | undefined)?.spec?.externalIPs ?? []);
    const wanted = (target.object as Service).spec?.externalIPs ?? [];
    if (wanted.every((address) => held.has(address))) return;
    throw refusal(target, 'Use of external IPs is denied by admission control');
  },
};
