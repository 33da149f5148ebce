/**
 * Discovers every group, version and resource that a server serves. A group that fails (such as an
 * aggregated one whose server is down) does not hide the others; `failedGroups` names it.
 */
import { dialect } from '@orch/component';
import { limits } from '../limits.js';
import type { ApiObject } from '../objects.js';
import { isNotFound } from './api-error.js';
import type { ResourceRef } from './resource-ref.js';
import type { Requester } from './rest-types.js';

/** A resource found by discovery. `group` is as in `ResourceRef`. */
export interface DiscoveredResource extends ResourceRef<ApiObject> {
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly singularName: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Whether this is the preferred version of its group. */
  readonly preferred: boolean;
}

export interface Discovery {
  readonly resources: DiscoveredResource[];
  /** `group/version` of each failed request. */
  readonly failedGroups: string[];
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly preferred: boolean;
}

interface GroupList {
  groups?: {
    name: string;
    versions: { version: string }[];
    preferredVersion?: { version: string };
  }[];
}

interface ResourceList {
  resources?: {
    name: string;
    singularName?: string;
    namespaced: boolean;
    kind: string;
    verbs?: string[];
    shortNames?: string[];
    categories?: string[];
  }[];
}

export async function discover(client: Requester): Promise<Discovery> {
  const waiting = await groupVersions(client);
  const found = new Map<GroupVersion, DiscoveredResource[]>();
  const failedGroups: string[] = [];
  const order = [...waiting];
  const worker = async () => {
    for (let one = waiting.shift(); one; one = waiting.shift()) {
      try {
        found.set(one, await resourcesOf(client, one));
      } catch (error) {
        // A group removed in the meantime has no resources; any other failure is reported.
        if (!isNotFound(error)) failedGroups.push(`${one.group}/${one.version}`);
      }
    }
  };
  await Promise.all(Array.from({ length: limits.discoveryConcurrencyMax }, worker));
  return { resources: order.flatMap((one) => found.get(one) ?? []), failedGroups };
}

async function groupVersions(client: Requester): Promise<GroupVersion[]> {
  const [core, named] = await Promise.all([
    client.request('GET', '/api').then((answer) => answer.json<{ versions?: string[] }>()),
    client.request('GET', '/apis').then((answer) => answer.json<GroupList>()),
  ]);
  const result: GroupVersion[] = (core.versions ?? []).map((version, index) => ({
    group: '',
    version,
    preferred: index === 0,
  }));
  for (const group of named.groups ?? []) {
    for (const { version } of group.versions) {
      const preferred = version === group.preferredVersion?.version;
      result.push({ group: group.name, version, preferred });
    }
  }
  return result;
}

async function resourcesOf(client: Requester, one: GroupVersion): Promise<DiscoveredResource[]> {
  const { group, version, preferred } = one;
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const answer = await client.request('GET', path);
  return (answer.json<ResourceList>().resources ?? [])
    .filter((resource) => !resource.name.includes('/'))
    .map((resource) => ({
      group: dialect().groupHead(group),
      version,
      plural: resource.name,
      kind: resource.kind,
      namespaced: resource.namespaced,
      verbs: resource.verbs ?? [],
      singularName: resource.singularName || resource.kind.toLowerCase(),
      shortNames: resource.shortNames ?? [],
      categories: resource.categories ?? [],
      preferred,
    }));
}
