/** The containers of a pod, and the security settings that are in effect for them. */
import { type FieldPath, path } from '@orch/apimachinery';
import type { Pod, SecurityContext } from '@orch/types/core/v1';

/** What policies need of a container; ephemeral ones have it, too. */
export interface PolicyContainer {
  readonly name: string;
  securityContext?: SecurityContext;
  readonly ports?: readonly { readonly hostPort?: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly readOnly?: boolean }[];
}

export interface PlacedContainer {
  readonly container: PolicyContainer;
  readonly fieldPath: FieldPath;
}

/** All containers, init containers first and ephemeral ones last. */
export function containersOf({ spec }: Pod): PlacedContainer[] {
  const lists: [string, readonly PolicyContainer[] | undefined][] = [
    ['initContainers', spec?.initContainers],
    ['containers', spec?.containers],
    ['ephemeralContainers', spec?.ephemeralContainers],
  ];
  return lists.flatMap(([field, list]) =>
    (list ?? []).map((container, index) => ({
      container,
      fieldPath: path('spec', field).index(index),
    })),
  );
}

/** The settings of a container, with those of the pod where it has none. */
export function effectiveContext(
  { spec }: Pod,
  { securityContext = {} }: PolicyContainer,
): SecurityContext {
  const { runAsUser, runAsGroup, runAsNonRoot, seLinuxOptions } = spec?.securityContext ?? {};
  return {
    ...securityContext,
    runAsUser: securityContext.runAsUser ?? runAsUser,
    runAsGroup: securityContext.runAsGroup ?? runAsGroup,
    runAsNonRoot: securityContext.runAsNonRoot ?? runAsNonRoot,
    seLinuxOptions: securityContext.seLinuxOptions ?? seLinuxOptions,
  };
}

/** Sets fields of a container's security context. */
export function setContext(container: PolicyContainer, fields: SecurityContext): void {
  container.securityContext = { ...container.securityContext, ...fields };
}

/** Sets fields of the pod's security context. */
export function setPodContext(
  pod: Pod,
  fields: NonNullable<NonNullable<Pod['spec']>['securityContext']>,
): void {
  pod.spec ??= {};
  pod.spec.securityContext = { ...pod.spec.securityContext, ...fields };
}
