/** The discovery documents of the in-memory API server. */
import { dialect } from '@orch/component';
import type { ApiObject } from '../objects.js';
import type { KnownResource } from '../rest/resource-ref.js';

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** The document at `path`; undefined if it is not a path of discovery. */
export function discoveryDocument(
  path: string,
  resources: readonly KnownResource<ApiObject>[],
): object | undefined {
  const named = resources.filter(({ group }) => dialect().group(group) !== '');
  if (path === '/api') return { versions: ['v1'] };
  if (path === '/apis') return { groups: groupsOf(named) };
  const [, root, ...rest] = path.split('/');
  const [group, version] = root === 'api' ? ['', rest[0]] : [rest[0], rest[1]];
  if (rest.length !== (root === 'api' ? 1 : 2)) return undefined;
  return {
    resources: resources
      .filter((one) => dialect().group(one.group) === group && one.version === version)
      .map(({ plural, kind, namespaced }) => ({ name: plural, kind, namespaced, verbs })),
  };
}

/** Prefers the stable version of a group. */
function groupsOf(resources: readonly KnownResource<ApiObject>[]): object[] {
  const groups = new Map<string, Set<string>>();
  for (const { group, version } of resources) {
    const name = dialect().group(group);
    groups.set(name, (groups.get(name) ?? new Set()).add(version));
  }
  return [...groups].map(([name, found]) => {
    const versions = [...found].sort().map((version) => ({ version }));
    return { name, versions, preferredVersion: versions[0] };
  });
}
