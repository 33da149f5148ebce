/** The API services of the groups that this server serves itself. */
import { dialect } from '@orch/component';
import type { APIService } from '@orch/types/apiregistration/v1';
import { prioritiesOf } from './priorities.js';

/** The group of API services has no API service of its own. */
const ownGroup = 'apiregistration';
/** Other servers usually serve the group. */
const replaceableGroup = 'metrics';

export function localApiService(groupHead: string, version: string): APIService | undefined {
  if (groupHead === ownGroup) return undefined;
  const [groupPriorityMinimum, versionPriority] = prioritiesOf(groupHead, version);
  return apiService(dialect().group(groupHead), version, atStart, {
    groupPriorityMinimum,
    versionPriority,
  });
}

/** The API service of a version of custom resources. `group`: on the wire. */
export function customApiService(group: string, version: string): APIService {
  return apiService(group, version, whileServed, customPriorities);
}

/** Reports whether the server deletes the object when its version is no longer served. */
export function isCustomApiService({ metadata }: APIService): boolean {
  return metadata?.labels?.[managedLabel()] === whileServed;
}

/** Reports whether the server has registered the version of a built-in group at a start. */
export function isLocalAtStart({ metadata }: APIService): boolean {
  return metadata?.labels?.[managedLabel()] === atStart;
}

/** Reports whether the user has pointed the version at another server, which is respected. */
export function isReplaced({ spec }: APIService): boolean {
  return spec?.group === dialect().group(replaceableGroup) && spec.service !== undefined;
}

const whileServed = 'true';
const atStart = 'onstart';
/** Lower than all built-in groups. */
const customPriorities = { groupPriorityMinimum: 1_000, versionPriority: 100 };

function managedLabel(): string {
  return dialect().key('automanaged', dialect().systemName('aggregator'));
}

function apiService(
  group: string,
  version: string,
  managed: string,
  priorities: { readonly groupPriorityMinimum: number; readonly versionPriority: number },
): APIService {
  return {
    apiVersion: dialect().apiVersion('apiregistration', 'v1'),
    kind: 'APIService',
    metadata: { name: `${version}.${group}`, labels: { [managedLabel()]: managed } },
    spec: { ...(group !== '' && { group }), version, ...priorities },
  };
}
