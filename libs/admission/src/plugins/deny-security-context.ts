/** Rejects pods that set users, groups or SELinux labels. */
import { forbiddenTarget, type WriteRule } from '../rule.js';

export const denySecurityContext: WriteRule<'core/pods'> = {
  name: 'SecurityContextDeny',
  isDefault: false,
  kinds: ['core/pods'],
  operations: ['CREATE', 'UPDATE'],
  subresource: '',

  validate(target) {
    const { spec } = target.object;
    const context = spec?.securityContext;
    const deny = (what: string): never => {
      throw forbiddenTarget(target, `${what} is forbidden`);
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
