/**
 * Defaults of pods and pod templates that depend on other fields; the static ones come from the schema.
 * Some hold for pods alone, because a template is not yet a pod.
 */
import { deepCopy } from '@orch/apimachinery';
import type { Container, EphemeralContainer, Pod, PodSpec, Volume } from '@orch/types/core/v1';

/** Defaults of the spec of a pod or of a template. */
export function setPodSpecDefaults(spec: PodSpec): void {
  setPullPolicies(spec);
  if (spec.hostNetwork) defaultHostPorts(spec);
  for (const volume of spec.volumes ?? []) {
    if (!hasSource(volume)) volume.emptyDir = {};
  }
  mirrorServiceAccount(spec);
}

/** Defaults of a pod, those of its spec included. */
export function setPodDefaults(pod: Pod): void {
  pod.spec ??= {};
  const { spec, status } = pod;
  if (spec.enableServiceLinks === undefined) spec.enableServiceLinks = true;
  setPodSpecDefaults(spec);
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    defaultRequests(container);
  }
  if (status?.podIPs?.length) status.podIP = status.podIPs[0]?.ip;
  else if (status?.podIP) status.podIPs = [{ ip: status.podIP }];
}

/** The old field and the new one hold the same account; the new one wins. */
export function mirrorServiceAccount(spec: PodSpec): void {
  const account = spec.serviceAccountName || spec.serviceAccount;
  if (!account) return;
  spec.serviceAccountName = account;
  spec.serviceAccount = account;
}

export function setPullPolicies(spec: PodSpec): void {
  for (const container of allContainers(spec)) {
    if (!container.imagePullPolicy) {
      container.imagePullPolicy = defaultPullPolicy(container.image ?? '');
    }
  }
}

function allContainers(spec: PodSpec): (Container | EphemeralContainer)[] {
  return [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...(spec.ephemeralContainers ?? []),
  ];
}

/** `Always` for the tag `latest` and for neither tag nor digest. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  const parsed = imageReference.exec(image);
  if (!parsed) return 'IfNotPresent';
  const [, tag, digest] = parsed;
  if (digest !== undefined && tag === undefined) return 'IfNotPresent';
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** `[host[:port]/]path[:tag][@digest]`. */
const imageReference =
  /^(?:[A-Za-z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$/;

/** On the host's network a container port is the host's. */
function defaultHostPorts(spec: PodSpec): void {
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    for (const port of container.ports ?? []) {
      if (!port.hostPort) port.hostPort = port.containerPort;
    }
  }
}

function hasSource(volume: Volume): boolean {
  return Object.entries(volume).some(
    ([field, source]) => field !== 'name' && source !== undefined && source !== null,
  );
}

/** A limit without a request is the request. */
function defaultRequests(container: Container): void {
  const limits = container.resources?.limits;
  if (!container.resources || !limits) return;
  const requests = { ...container.resources.requests };
  for (const [name, limit] of Object.entries(limits)) {
    if (!Object.hasOwn(requests, name)) requests[name] = deepCopy(limit);
  }
  if (Object.keys(requests).length > 0) container.resources.requests = requests;
}
