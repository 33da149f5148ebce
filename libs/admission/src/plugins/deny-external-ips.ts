/** Rejects new external IPs on services; existing ones may stay. */
import { forbiddenTarget, type WriteRule } from '../rule.js';

export const denyExternalIps: WriteRule<'core/services'> = {
  name: 'DenyServiceExternalIPs',
  isDefault: false,
  kinds: ['core/services'],
  operations: ['CREATE', 'UPDATE'],
  subresource: '',

  validate(target) {
    const held = new Set(target.old?.spec?.externalIPs ?? []);
    const wanted = target.object.spec?.externalIPs ?? [];
    if (wanted.every((address) => held.has(address))) return;
    throw forbiddenTarget(target, 'Use of external IPs is denied by admission control');
  },
};
