/**
 * May this user do this? One function of attributes, so that other rules can take its place. The rule
 * here: whoever has proven who they are may do everything, but for the replicas of the cluster, which are
 * the administrators'; others may see health and version.
 */
import { forbidden } from '@orch/apimachinery';
import type { NonResourceRule, ResourceRule } from '@orch/types/authorization/v1';
import type { User } from '../authentication/user.js';
import type { RequestInfo } from '../request/request-info.js';

export interface Attributes {
  readonly user: User;
  readonly info: RequestInfo;
}

export interface Decision {
  readonly allowed: boolean;
  /** Why not, for the client; empty when there is nothing to say. */
  readonly reason: string;
}

export type Authorizer = (attributes: Attributes) => Decision;

/** What a user may do in a namespace, as far as it can be listed. */
export interface Permissions {
  readonly resourceRules: ResourceRule[];
  readonly nonResourceRules: NonResourceRule[];
  /** There may be more. */
  readonly incomplete: boolean;
}

export type PermissionLister = (user: User, namespace: string) => Permissions;

const openPaths = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/']);
/** Members, leader and backups: whoever may change these has the whole cluster. */
const administratorsPrefix = '/cluster/';
const administrators = 'system:masters';
const allowed: Decision = { allowed: true, reason: '' };
const refused: Decision = { allowed: false, reason: '' };

export const allowAuthenticated: Authorizer = ({ user, info }) => {
  if (!info.isResource && info.path.startsWith(administratorsPrefix)) {
    return user.groups.includes(administrators) ? allowed : refused;
  }
  if (user.groups.includes(administrators) || user.groups.includes('system:authenticated')) {
    return allowed;
  }
  const open = !info.isResource && info.verb === 'get' && openPaths.has(info.path);
  return open ? allowed : refused;
};

/** The same rule, listed. */
export const permissionsOfAuthenticated: PermissionLister = ({ groups }) => {
  const all = groups.includes(administrators) || groups.includes('system:authenticated');
  return all
    ? {
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        incomplete: false,
      }
    : {
        resourceRules: [],
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [...openPaths] }],
        incomplete: false,
      };
};

/** Throws 403 when the decision was against it. */
export function enforce(decision: Decision, attributes: Attributes): void {
  if (decision.allowed) return;
  const { user, info } = attributes;
  throw forbidden(
    {
      user: user.name,
      verb: info.verb,
      path: info.path,
      ...(info.isResource && {
        resource: {
          group: info.group,
          resource: info.resource,
          subresource: info.subresource,
          namespace: info.namespace,
          name: info.name,
        },
      }),
    },
    decision.reason,
  );
}
