/**
 * The groups and versions that discovery lists, in the order of the priorities of their API
 * services: the versions that this server serves, and the versions registered for other servers.
 */
import { type ApiObject, compareVersions, customApiService, localApiService } from '@orch/api';
import { dialect } from '@orch/component';
import type { ResourceTable, ServedResource } from '@orch/registry';
import type { APIService } from '@orch/types/apiregistration/v1';

export interface GroupVersion {
  readonly groupVersion: string;
  readonly version: string;
}

export interface Group {
  readonly name: string;
  readonly versions: readonly GroupVersion[];
  readonly preferredVersion: GroupVersion;
}

/** The registrations of group versions. */
export interface Registrations {
  /** Changes with every registration. */
  readonly revision: number;
  /** The versions that this server does not register itself. */
  readonly registered: readonly APIService[];
  find(group: string, version: string): APIService | undefined;
}

/** Every group except the core one. */
export function discoveryGroups(table: ResourceTable, registrations: Registrations): Group[] {
  const apiServices = new Map<string, APIService>();
  const add = (object: APIService | undefined) => {
    if (object?.spec?.group) apiServices.set(nameOf(object), object);
  };
  for (const served of table.served) add(registrationOf(served, registrations));
  for (const object of registrations.registered) add(object);
  const byGroup = new Map<string, APIService[]>();
  for (const object of [...apiServices.values()].sort(byGroupPriority)) {
    const group = object.spec!.group!;
    const versions = byGroup.get(group);
    if (versions) versions.push(object);
    else byGroup.set(group, [object]);
  }
  const own = table.served.filter(({ served }) => served.group === ownGroup);
  return [...ownGroupOf(own), ...[...byGroup].map(([name, versions]) => groupOf(name, versions))];
}

/** The group of API services has no API service and comes first. */
const ownGroup = 'apiregistration';

function ownGroupOf(served: readonly ServedResource[]): Group[] {
  const [first] = served;
  if (!first) return [];
  const versions = [...new Set(served.map(({ version }) => version))].sort(compareVersions);
  return [groupFrom(first.group, versions)];
}

/** The stored registration of a served version, or the one that the server creates. */
function registrationOf(
  { group, version, served, definition }: ServedResource,
  registrations: Registrations,
): APIService | undefined {
  if (group === dialect().group(ownGroup)) return undefined;
  const stored = registrations.find(group, version);
  if (stored) return stored;
  return definition.custom
    ? customApiService(group, version)
    : localApiService(served.group, version);
}

function groupOf(name: string, apiServices: readonly APIService[]): Group {
  const sorted = [...apiServices].sort(byVersionPriority);
  return groupFrom(
    name,
    sorted.map(({ spec }) => spec?.version ?? ''),
  );
}

function groupFrom(name: string, wanted: readonly string[]): Group {
  const versions = wanted.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0]! };
}

function nameOf({ metadata }: ApiObject): string {
  return metadata?.name ?? '';
}

/** The highest first, then by name. */
function byGroupPriority(a: APIService, b: APIService): number {
  const difference = (b.spec?.groupPriorityMinimum ?? 0) - (a.spec?.groupPriorityMinimum ?? 0);
  return difference || (nameOf(a) < nameOf(b) ? -1 : 1);
}

/** The highest first, then the most stable and newest. */
function byVersionPriority(a: APIService, b: APIService): number {
  const difference = (b.spec?.versionPriority ?? 0) - (a.spec?.versionPriority ?? 0);
  return difference || compareVersions(a.spec?.version ?? '', b.spec?.version ?? '');
}
