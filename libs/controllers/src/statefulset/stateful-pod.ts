/** The pods and claims of a stateful set: names, identity and storage of each ordinal. Pure. */
import { dialect } from '@orch/component';
import type { StatefulSet } from '@orch/types/apps/v1';
import type { PersistentVolumeClaim, Pod, PodTemplateSpec, Volume } from '@orch/types/core/v1';
import { podFromTemplate } from '../common/pod-template.js';

/** The label with the name of the revision that a pod was created from. */
export const revisionLabel = 'controller-revision-hash';

/** The label with the name of the pod, so that a service can select a single pod. */
export function podNameLabel(): string {
  return dialect().key('pod-name', 'statefulset');
}

export function podName(set: StatefulSet, ordinal: number): string {
  return `${set.metadata?.name}-${ordinal}`;
}

/** The ordinal of a pod of `set`; undefined if its name is not one of the set's names. */
export function ordinalOf(set: StatefulSet, pod: Pod): number | undefined {
  const parts = /^(.*)-([0-9]+)$/.exec(pod.metadata?.name ?? '');
  if (!parts || parts[1] !== set.metadata?.name) return undefined;
  const ordinal = Number(parts[2]);
  return pod.metadata?.name === podName(set, ordinal) ? ordinal : undefined;
}

export function revisionOfPod(pod: Pod): string {
  return pod.metadata?.labels?.[revisionLabel] ?? '';
}

/** The pod of an ordinal, made from the template of a revision. */
export function statefulPod(
  set: StatefulSet,
  ordinal: number,
  template: PodTemplateSpec,
  revision: string,
): Pod {
  const owner = { ...set, apiVersion: 'apps/v1', kind: 'StatefulSet' };
  const pod = podFromTemplate(owner, template);
  pod.metadata = {
    ...pod.metadata,
    name: podName(set, ordinal),
    labels: { ...pod.metadata?.labels, [revisionLabel]: revision },
  };
  pod.spec = {
    ...pod.spec,
    containers: pod.spec?.containers ?? [],
    hostname: podName(set, ordinal),
    subdomain: set.spec?.serviceName ?? '',
  };
  return withIdentity(set, ordinal, pod);
}

/** The pod with the label and volumes of its ordinal. */
export function withIdentity(set: StatefulSet, ordinal: number, pod: Pod): Pod {
  const claims = claimNames(set, ordinal);
  const own = (pod.spec?.volumes ?? []).filter(({ name }) => !claims.has(name));
  const claimed = [...claims].map(
    ([name, claimName]): Volume => ({ name, persistentVolumeClaim: { claimName } }),
  );
  const volumes = [...claimed, ...own];
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...pod.metadata?.labels, [podNameLabel()]: podName(set, ordinal) },
    },
    spec: {
      ...pod.spec,
      containers: pod.spec?.containers ?? [],
      ...(volumes.length > 0 ? { volumes } : {}),
    },
  };
}

/** Whether the pod has the label and the claims of its ordinal. */
export function hasIdentity(set: StatefulSet, ordinal: number, pod: Pod): boolean {
  if (pod.metadata?.labels?.[podNameLabel()] !== podName(set, ordinal)) return false;
  const volumes = new Map(
    (pod.spec?.volumes ?? []).map(({ name, persistentVolumeClaim }) => [
      name,
      persistentVolumeClaim?.claimName,
    ]),
  );
  return [...claimNames(set, ordinal)].every(([name, claim]) => volumes.get(name) === claim);
}

/** The claims that the pod of an ordinal needs. They have no owner, so that they stay. */
export function claimsOf(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  const names = claimNames(set, ordinal);
  return (set.spec?.volumeClaimTemplates ?? []).map(({ metadata, spec }) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: names.get(metadata?.name ?? '') ?? '',
      namespace: set.metadata?.namespace,
      labels: { ...metadata?.labels, ...set.spec?.selector?.matchLabels },
      ...(metadata?.annotations ? { annotations: { ...metadata.annotations } } : {}),
      ...(metadata?.finalizers ? { finalizers: [...metadata.finalizers] } : {}),
    },
    ...(spec ? { spec: structuredClone(spec) } : {}),
  }));
}

/** The claim of each claim template, by the name of the template. */
function claimNames(set: StatefulSet, ordinal: number): Map<string, string> {
  return new Map(
    (set.spec?.volumeClaimTemplates ?? []).map(({ metadata }) => {
      const template = metadata?.name ?? '';
      return [template, `${template}-${podName(set, ordinal)}`];
    }),
  );
}
