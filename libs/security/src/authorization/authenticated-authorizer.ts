/**
 * The mode `AlwaysAllow`: authenticated users may do everything, except change the replicas of the
 * cluster, which only administrators may. Every user may read health and version.
 */
import { privilegedGroup, type User } from '../authentication/user.js';
import type { Attributes } from './attributes.js';
import { type Authorizer, allow, type Decision, deny, noOpinion } from './authorizer.js';
import type { RuleLister } from './rules.js';

const authenticatedGroup = 'system:authenticated';
const openPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const openPathSet: ReadonlySet<string> = new Set(openPaths);
/** Members, leader and backups: write access to them is access to the whole cluster. */
const administratorsPrefix = '/cluster/';

export const clusterAdministration: Authorizer = ({ info }) =>
  !info.isResource && info.path.startsWith(administratorsPrefix) ? deny : noOpinion;

export const authenticatedUsers: Authorizer = ({ user }) =>
  user.groups.includes(authenticatedGroup) ? allow : noOpinion;

export const openPathReads = ({ info }: Attributes): Decision =>
  !info.isResource && info.verb === 'get' && openPathSet.has(info.path) ? allow : noOpinion;

/** The rules of these authorizers for a user, in any namespace. */
export const listAuthenticatedRules: RuleLister = async ({ groups }) =>
  isAuthenticated(groups)
    ? {
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        incomplete: false,
      }
    : {
        resourceRules: [],
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: openPaths }],
        incomplete: false,
      };

function isAuthenticated(groups: User['groups']): boolean {
  return groups.includes(privilegedGroup) || groups.includes(authenticatedGroup);
}
