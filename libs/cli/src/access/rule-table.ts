/** The table of `auth can-i --list`: one row per resource, and per path. */
import type { SubjectRulesReviewStatus } from '@orch/types/authorization/v1';
import { TableWriter } from '../output/table.js';

interface Row {
  readonly resource: string;
  readonly paths: readonly string[];
  readonly names: readonly string[];
  readonly verbs: readonly string[];
}

/** Rows are sorted, and rules of the same target are merged. */
export function ruleTable(status: SubjectRulesReviewStatus, hasHeader: boolean): string {
  const header = ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs'];
  const rows = mergedRows(status).map(({ resource, paths, names, verbs }) => [
    resource,
    ...[paths, names, verbs].map((list) => `[${list.join(' ')}]`),
  ]);
  return new TableWriter().format([...(hasHeader ? [header] : []), ...rows]);
}

function mergedRows({ resourceRules = [], nonResourceRules = [] }: SubjectRulesReviewStatus) {
  const rows = new Map<string, Row>();
  const add = (row: Row) => {
    const key = JSON.stringify([row.resource, row.paths, row.names]);
    const verbs = new Set([...(rows.get(key)?.verbs ?? []), ...row.verbs]);
    rows.set(key, { ...row, verbs: [...verbs] });
  };
  for (const { apiGroups = [], resources = [], resourceNames = [], verbs } of resourceRules) {
    for (const group of apiGroups) {
      for (const resource of resources) {
        const name = inGroup(resource, group);
        add({ resource: name, paths: [], names: resourceNames, verbs: verbs ?? [] });
      }
    }
  }
  for (const { nonResourceURLs = [], verbs } of nonResourceRules) {
    for (const path of nonResourceURLs) {
      add({ resource: '', paths: [path], names: [], verbs: verbs ?? [] });
    }
  }
  return [...rows.values()].sort(byTarget);
}

/** `deployments.apps/scale`. */
function inGroup(resource: string, group: string): string {
  if (group === '') return resource;
  const [type, ...subresource] = resource.split('/');
  return [`${type}.${group}`, ...subresource].join('/');
}

/** Resources precede paths; the widest permissions are first. */
function byTarget(left: Row, right: Row): number {
  const keyOf = ({ resource, paths, names }: Row) =>
    [paths.length > 0 ? '1' : '0', resource, paths[0] ?? '', names.join(' ')].join('\0');
  return keyOf(left) < keyOf(right) ? -1 : 1;
}
