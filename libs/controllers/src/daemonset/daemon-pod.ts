/** The pods of a daemon set: template, tolerations, the node that each is for. Pure. */
import { deepEqual } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { DaemonSet } from '@orch/types/apps/v1';
import type { Affinity, Pod, PodSpec, PodTemplateSpec, Toleration } from '@orch/types/core/v1';
import { createdMs } from '../common/created.js';
import { podFromTemplate } from '../common/pod-template.js';

/** The label with the hash of the revision that a pod was created from. */
export const hashLabel = 'controller-revision-hash';
const generationLabel = 'pod-template-generation';
const generationAnnotation = 'deprecated.daemonset.template.generation';
const nodeNameField = 'metadata.name';

/** How often the template has changed. */
export function templateGenerationOf(set: DaemonSet): string | undefined {
  return set.metadata?.annotations?.[generationAnnotation];
}

/** Whether a pod has the present template: by one of its hashes, or by the generation. */
export function isUpdated(set: DaemonSet, hashes: ReadonlySet<string>, pod: Pod): boolean {
  const { [hashLabel]: hash, [generationLabel]: generation } = pod.metadata?.labels ?? {};
  if (hash !== undefined && hashes.has(hash)) return true;
  return generation !== undefined && generation === templateGenerationOf(set);
}

/** The template with the labels of its revision and the tolerations of daemon pods. */
export function daemonTemplate(set: DaemonSet, hash: string): PodTemplateSpec {
  const template = set.spec?.template;
  const generation = templateGenerationOf(set);
  return {
    ...template,
    metadata: {
      ...template?.metadata,
      labels: {
        ...template?.metadata?.labels,
        ...(generation === undefined ? {} : { [generationLabel]: generation }),
        [hashLabel]: hash,
      },
    },
    spec: {
      ...template?.spec,
      containers: template?.spec?.containers ?? [],
      tolerations: daemonTolerations(template?.spec),
    },
  };
}

/** A pod for a node, to be bound by the scheduler. @param owner with apiVersion and kind. */
export function daemonPod(owner: DaemonSet, template: PodTemplateSpec, nodeName: string): Pod {
  const pod = podFromTemplate(owner, template);
  pod.spec = {
    ...pod.spec,
    containers: pod.spec?.containers ?? [],
    affinity: affinityTo(nodeName, pod.spec?.affinity),
  };
  return pod;
}

/** The node that a pod runs on or is for; undefined for a pod that is for no particular node. */
export function targetNodeOf({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName;
  const terms =
    spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  for (const { matchFields } of terms ?? []) {
    for (const { key, operator, values } of matchFields ?? []) {
      if (key === nodeNameField && operator === 'In' && values?.length === 1) return values[0];
    }
  }
  return undefined;
}

/** Tolerations of the set's own pods: problems of a node do not remove them. */
export function daemonTolerations(spec: Partial<PodSpec> | undefined): Toleration[] {
  const exists = (name: string, effect: string): Toleration => ({
    key: dialect().key(name, 'node'),
    operator: 'Exists',
    effect,
  });
  const added = [
    exists('not-ready', 'NoExecute'),
    exists('unreachable', 'NoExecute'),
    exists('disk-pressure', 'NoSchedule'),
    exists('memory-pressure', 'NoSchedule'),
    exists('pid-pressure', 'NoSchedule'),
    exists('unschedulable', 'NoSchedule'),
    ...(spec?.hostNetwork ? [exists('network-unavailable', 'NoSchedule')] : []),
  ];
  return added.reduce<Toleration[]>(withToleration, [...(spec?.tolerations ?? [])]);
}

/** The oldest first, and pods with a node before all others. */
export function olderFirst(a: Pod, b: Pod): number {
  const unbound = (pod: Pod) => Number(!pod.spec?.nodeName);
  return (
    unbound(a) - unbound(b) ||
    createdMs(a) - createdMs(b) ||
    ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1)
  );
}

/** Replaces a toleration of the same taint, whatever its time. */
function withToleration(tolerations: Toleration[], added: Toleration): Toleration[] {
  const withoutTime = ({ tolerationSeconds: _seconds, ...toleration }: Toleration) => toleration;
  const index = tolerations.findIndex((toleration) => deepEqual(withoutTime(toleration), added));
  return index < 0 ? [...tolerations, added] : tolerations.with(index, added);
}

/** The required node affinity is replaced: the controller has applied it already. */
function affinityTo(nodeName: string, affinity: Affinity | undefined): Affinity {
  const matchFields = [{ key: nodeNameField, operator: 'In', values: [nodeName] }];
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
    },
  };
}
