/** A user as audit events name it. */
import type { User } from '@orch/security';
import type { AuditEvent } from './event.js';

/** Empty for a user who is not known. */
export function userInfo(user: User | undefined): AuditEvent['user'] {
  if (!user) return {};
  const { name: username, uid, groups, extra } = user;
  return {
    username,
    ...(uid !== '' && { uid }),
    groups: [...groups],
    ...(Object.keys(extra).length > 0 && { extra: extra as Record<string, string[]> }),
  };
}
