/** The user of a container, from its security context and that of its pod. Pure. */
import type { Container, Pod } from '@orch/types/core/v1';
import { BrokenReference } from '../environment/referenced-objects.js';
import type { ContainerUser } from '../runtimes/container-runtime.js';

/**
 * Returns the user; undefined for the default. Throws `BrokenReference` if `runAsNonRoot` is
 * violated.
 */
export function containerUser(pod: Pod, container: Container): ContainerUser | undefined {
  const podContext = pod.spec?.securityContext ?? {};
  const own = container.securityContext ?? {};
  const uid = own.runAsUser ?? podContext.runAsUser;
  const gid = own.runAsGroup ?? podContext.runAsGroup;
  const mustNotBeRoot = own.runAsNonRoot ?? podContext.runAsNonRoot ?? false;
  if (mustNotBeRoot && (uid === undefined || uid === 0)) {
    const why =
      uid === 0
        ? "container's runAsUser breaks non-root policy"
        : 'container has runAsNonRoot and image will run as root';
    throw new BrokenReference(why);
  }
  const { fsGroup, supplementalGroups: more = [] } = podContext;
  const supplementalGroups = fsGroup === undefined ? more : [...more, fsGroup];
  if (uid === undefined && gid === undefined && supplementalGroups.length === 0) return undefined;
  return { uid: uid ?? 0, gid: gid ?? 0, supplementalGroups };
}
