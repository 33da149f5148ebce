/** Pods may not choose users, groups or labels of their own. */
import type { Pod } from '@orch/types/core/v1';
import { type AdmissionRule, isWriteOf, refusal } from '../admission-rule.js';

export const denySecurityContextRule: AdmissionRule = {
  name: 'SecurityContextDeny',
  validate(target) {
    if (!isWriteOf(target, 'core', 'pods', ['CREATE', 'UPDATE'])) return;
    const { spec } = target.object as Pod;
    const context = spec?.securityContext;
    const deny = (what: string): never => {
      throw refusal(target, `${what} is forbidden`);
    };
    if (context?.supplementalGroups) deny('pod.Spec.SecurityContext.SupplementalGroups');
    if (context?.seLinuxOptions) deny('pod.Spec.SecurityContext.SELinuxOptions');
    if (context?.runAsUser !== undefined) deny('pod.Spec.SecurityContext.RunAsUser');
    if (context?.fsGroup !== undefined) deny('pod.Spec.SecurityContext.FSGroup');
    const containers = [
      ...(spec?.initContainers ?? []),
      ...(spec?.containers ?? []),
      ...(spec?.ephemeralContainers ?? []),
    ];
    for (const { securityContext } of containers) {
      if (securityContext?.seLinuxOptions) deny('SecurityContext.SELinuxOptions');
      if (securityContext?.runAsUser !== undefined) deny('SecurityContext.RunAsUser');
    }
  },
};
