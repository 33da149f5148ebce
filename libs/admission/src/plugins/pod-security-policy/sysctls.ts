/** Kernel parameters: safe ones are allowed unless forbidden, others need to be allowed. */
import { type FieldError, fieldError, path, quote } from '@orch/apimachinery';
import type { PodValidator } from './policy-strategy.js';

const safeSysctls = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
];

export const validateSysctls: PodValidator = ({ spec }, pod) => {
  const { forbiddenSysctls = [], allowedUnsafeSysctls = [] } = spec;
  const fieldPath = path('pod', 'spec', 'securityContext', 'sysctls');
  return (pod.spec?.securityContext?.sysctls ?? []).flatMap(({ name }, index): FieldError[] => {
    const at = fieldPath.index(index);
    if (matches(name, forbiddenSysctls)) {
      return [fieldError.forbidden(at, `sysctl ${quote(name)} is not allowed`)];
    }
    if (safeSysctls.includes(name) || matches(name, allowedUnsafeSysctls)) return [];
    return [fieldError.forbidden(at, `unsafe sysctl ${quote(name)} is not allowed`)];
  });
};

/** Patterns are names, or prefixes with a star. */
function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}
