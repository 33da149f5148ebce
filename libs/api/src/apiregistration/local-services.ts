/** The API services of what this server answers itself. */
import { dialect } from '@orch/component';
import type { APIService } from '@orch/types/apiregistration/v1';
import { prioritiesOf } from './priorities.js';

/** The group of API services is there before them and has none. */
const ownGroup = 'apiregistration';

export function localApiService(groupHead: string, version: string): APIService | undefined {
  if (groupHead === ownGroup) return undefined;
  const [groupPriorityMinimum, versionPriority] = prioritiesOf(groupHead, version);
  return apiService(dialect().group(groupHead), version, 'onstart', {
    groupPriorityMinimum,
    versionPriority,
  });
}

/** Of a version of custom resources: it comes and goes with them. `group`: on the wire. */
export function customApiService(group: string, version: string): APIService {
  return apiService(group, version, whileServed, customPriorities);
}

/** Does the server remove it when the version is no longer served? */
export function isCustomApiService({ metadata }: APIService): boolean {
  return metadata?.labels?.[managedLabel()] === whileServed;
}

const whileServed = 'true';
/** Behind everything that is built in. */
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
