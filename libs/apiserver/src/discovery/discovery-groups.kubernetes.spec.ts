import { definitions } from '@orch/api';
import { selectDialect } from '@orch/component';
import { ResourceTable } from '@orch/registry';
import type { APIService } from '@orch/types/apiregistration/v1';
import { describe, expect, it } from 'vitest';
import { discoveryGroups } from './discovery-groups.js';

selectDialect('kubernetes');

function registration(name: string, priorities: [group: number, version: number]): APIService {
  const [version = '', ...group] = name.split('.');
  const [groupPriorityMinimum, versionPriority] = priorities;
  const spec = { group: group.join('.'), version, groupPriorityMinimum, versionPriority };
  return { metadata: { name }, spec };
}

function groupsWith(registered: readonly APIService[], stored: readonly APIService[] = []) {
  const find = (group: string, version: string) =>
    stored.find(({ spec }) => spec?.group === group && spec.version === version);
  const table = new ResourceTable(definitions);
  return discoveryGroups(table, { revision: 0, registered, find });
}

describe('the groups of discovery', () => {
  it('have the order of the built-in priorities before anything is registered', () => {
    const names = groupsWith([]).map(({ name }) => name);
    expect(names.slice(0, 4)).toEqual([
      'apiregistration.k8s.io',
      'apps',
      'events.k8s.io',
      'authentication.k8s.io',
    ]);
    expect(names.indexOf('admissionregistration.k8s.io')).toBeLessThan(
      names.indexOf('apiextensions.k8s.io'),
    );
  });

  it('include registered groups by priority and their versions by priority and stability', () => {
    const groups = groupsWith([
      registration('v1.wares.example.com', [1_000, 10]),
      registration('v2.wares.example.com', [1_000, 20]),
      registration('v1beta1.wares.example.com', [1_000, 10]),
      registration('v1.zoo.example.com', [2_000, 15]),
      registration('v1.first.example.com', [20_000, 1]),
    ]);
    expect(groups.slice(-2).map(({ name }) => name)).toEqual([
      'zoo.example.com',
      'wares.example.com',
    ]);
    expect(groups[1]?.name).toBe('first.example.com');
    const wares = groups.at(-1)!;
    expect(wares.versions.map(({ version }) => version)).toEqual(['v2', 'v1', 'v1beta1']);
    expect(wares.preferredVersion.groupVersion).toBe('wares.example.com/v2');
  });

  it('follow a changed priority of a built-in group', () => {
    const [, first] = groupsWith([], [registration('v1.batch', [19_000, 15])]);
    expect(first?.name).toBe('batch');
  });
});
