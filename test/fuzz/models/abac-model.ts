/**
 * Decisions by the lines of a policy file, by the words of the documentation alone. It reads the
 * parsed JSON and shares no code with the product.
 */
import type { RequestAttributes, User } from '@orch/security';
import { urlAllows } from './rbac-model.js';

interface Fields {
  readonly user?: string;
  readonly group?: string;
  readonly readonly?: boolean;
  readonly namespace?: string;
  readonly resource?: string;
  readonly apiGroup?: string;
  readonly nonResourcePath?: string;
}

interface Line extends Fields {
  readonly apiVersion?: string;
  readonly spec?: Fields;
}

const isIn = (value: string, pattern: string | undefined) =>
  pattern === '*' || (pattern ?? '') === value;

function appliesTo({ user = '', group = '' }: Fields, isOld: boolean, who: User): boolean {
  const isNobody = user === '' && group === '';
  if (isNobody && !isOld) return false;
  // A star, and no subject at all in the older form, mean authenticated users.
  if (isNobody || user === '*' || group === '*') {
    if (!who.groups.includes('system:authenticated')) return false;
    return user === '' || user === '*' || user === who.name;
  }
  if (user !== '' && user !== who.name) return false;
  return group === '' || who.groups.includes(group);
}

export function abacAllows(object: object, user: User, info: RequestAttributes): boolean {
  const line = object as Line;
  const isOld = line.apiVersion === undefined;
  const fields = isOld ? line : (line.spec ?? {});
  if (!appliesTo(fields, isOld, user)) return false;
  if (fields.readonly && !['get', 'list', 'watch'].includes(info.verb)) return false;
  const { namespace = '', resource = '' } = fields;
  if (!info.isResource) {
    const { nonResourcePath = '' } = fields;
    if (isOld) return namespace + resource === '';
    return nonResourcePath !== '' && urlAllows(nonResourcePath, info.path);
  }
  if (isOld) {
    return (
      (namespace === '' || isIn(info.namespace, namespace)) &&
      (resource === '' || isIn(info.resource, resource))
    );
  }
  return (
    isIn(info.namespace, namespace) &&
    isIn(info.resource, resource) &&
    isIn(info.group, fields.apiGroup)
  );
}

/** The rules that a review lists: those of resources, then those of paths. */
export function abacModelRules(objects: readonly object[], user: User, namespace: string) {
  const applying = (objects as readonly Line[]).flatMap((line) => {
    const isOld = line.apiVersion === undefined;
    const fields = isOld ? line : (line.spec ?? {});
    if (!appliesTo(fields, isOld, user)) return [];
    if (!isIn(namespace, fields.namespace) && !(isOld && !fields.namespace)) return [];
    const verbs = fields.readonly ? ['get', 'list', 'watch'] : ['*'];
    return [{ isOld, fields, verbs }];
  });
  const resourceRules = applying.flatMap(({ isOld, fields, verbs }) => {
    if (!isOld && !fields.resource) return [];
    const apiGroups = [isOld ? '*' : (fields.apiGroup ?? '')];
    return [{ verbs, apiGroups, resources: [fields.resource || '*'] }];
  });
  const pathRules = applying.flatMap(({ isOld, fields, verbs }) => {
    const isEverything = isOld && !fields.namespace && !fields.resource;
    const path = isOld ? (isEverything ? '*' : '') : (fields.nonResourcePath ?? '');
    return path === '' ? [] : [{ verbs, nonResourceURLs: [path] }];
  });
  return [...resourceRules, ...pathRules];
}
