/** The part of a pod that a hollow node reads, so that 100,000 pods fit into a process. Pure. */
import type { Container, Pod } from '@orch/types/core/v1';

export function keptPod({ metadata, spec, status }: Pod): Pod {
  return {
    metadata: definedOf({
      name: metadata?.name,
      namespace: metadata?.namespace,
      uid: metadata?.uid,
      resourceVersion: metadata?.resourceVersion,
      deletionTimestamp: metadata?.deletionTimestamp,
      deletionGracePeriodSeconds: metadata?.deletionGracePeriodSeconds,
    }),
    spec: definedOf({
      nodeName: spec?.nodeName,
      hostNetwork: spec?.hostNetwork,
      restartPolicy: spec?.restartPolicy,
      terminationGracePeriodSeconds: spec?.terminationGracePeriodSeconds,
      readinessGates: spec?.readinessGates,
      initContainers: spec?.initContainers?.map(keptContainer),
      containers: (spec?.containers ?? []).map(keptContainer),
    }),
    ...(status ? { status } : {}),
  };
}

function keptContainer({ name, image, readinessProbe, startupProbe }: Container): Container {
  return definedOf({
    name,
    image,
    readinessProbe: readinessProbe && {},
    startupProbe: startupProbe && {},
  });
}

type Defined<T> = { [Key in keyof T]: Exclude<T[Key], undefined> };

/** Returns the object without the members that are undefined. */
function definedOf<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
}
