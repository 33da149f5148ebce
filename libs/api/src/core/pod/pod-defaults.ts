/**
 * Defaults of pods and pod templates that depend on other fields; constant defaults are in the
 * schema. Some apply to pods only.
 */
import { deepCopy } from '@orch/apimachinery';
import type { Container, EphemeralContainer, Pod, PodSpec, Volume } from '@orch/types/core/v1';

/** Sets the defaults of the spec of a pod or a template. */
export function setPodSpecDefaults(spec: PodSpec): void {
  setPullPolicies(spec);
  if (spec.hostNetwork) defaultHostPorts(spec);
  for (const volume of spec.volumes ?? []) {
    if (!hasSource(volume)) volume.emptyDir = {};
  }
  mirrorServiceAccount(spec);
}

/** Sets the defaults of a pod, including those of its spec. */
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

/** Synchronises the deprecated account field with the new one; the new one wins. */
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

/** `Always` for the tag `latest` and for an image with neither tag nor digest. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  const parsed = imageReference.exec(withHost(image));
  if (!parsed) return 'IfNotPresent';
  const [, name = '', tag, digest] = parsed;
  if (name.length > imageNameLengthMax) return 'IfNotPresent';
  if (digest !== undefined && tag === undefined) return 'IfNotPresent';
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

const imageNameLengthMax = 255;

/** Image names without a host are those of the public registry. */
function withHost(image: string): string {
  const slash = image.indexOf('/');
  const host = image.slice(0, Math.max(0, slash));
  if (/[.:]/.test(host) || host === 'localhost') return image;
  return slash < 0 ? `docker.io/library/${image}` : `docker.io/${image}`;
}

/** `host[:port]/path[:tag][@digest]`. */
const imageReference =
  /^((?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::\d+)?(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)+)(?::([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$/;

/** With host networking, a container port is also a host port. */
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

/** A resource with a limit but without a request gets the limit as its request. */
function defaultRequests(container: Container): void {
  const limits = container.resources?.limits;
  if (!container.resources || !limits) return;
  const requests = { ...container.resources.requests };
  for (const [name, limit] of Object.entries(limits)) {
    if (!Object.hasOwn(requests, name)) requests[name] = deepCopy(limit);
  }
  if (Object.keys(requests).length > 0) container.resources.requests = requests;
}
