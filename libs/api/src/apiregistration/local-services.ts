/** The API services of what this server answers itself. */
import { dialect } from '@orch/component';
import type { APIService } from '@orch/types/apiregistration/v1';
import { prioritiesOf } from './priorities.js';

/** The group of API services is there before them and has none. */
const ownGroup = 'apiregistration';

export function localApiService(groupHead: string, version: string): APIService | undefined {
  if (groupHead === ownGroup) return undefined;
  const [groupPriorityMinimum, versionPriority] = prioritiesOf(groupHead, version);
  const group = dialect().group(groupHead);
  const managed = dialect().key('automanaged', dialect().systemName('aggregator'));
  return {
    apiVersion: dialect().apiVersion('apiregistration', 'v1'),
    kind: 'APIService',
    metadata: { name: `${version}.${group}`, labels: { [managed]: 'onstart' } },
    spec: {
      ...(group !== '' && { group }),
      version,
      groupPriorityMinimum,
      versionPriority,
    },
  };
}
