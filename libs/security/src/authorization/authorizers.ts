/**
 * Every authorization mode, by its name in `--authorization-mode`. A new one is a file with a
 * function and an entry here.
 */
import { abacAuthorizer, abacRules } from './abac/abac-authorizer.js';
import type { AbacPolicies } from './abac/abac-policies.js';
import {
  authenticatedUsers,
  clusterAdministration,
  listAuthenticatedRules,
  openPathReads,
} from './authenticated-authorizer.js';
import { type Authorizer, deny, unionOfAuthorizers } from './authorizer.js';
import {
  type NodeAuthorizerDependencies,
  nodeAuthorizer,
  nodeRules,
} from './node/node-authorizer.js';
import { privilegedUsers } from './privileged-users.js';
import { rbacAuthorizer, rbacRules } from './rbac/rbac-authorizer.js';
import type { RbacPolicy } from './rbac/rbac-policy.js';
import { noRules, type RuleLister, unionOfRules } from './rules.js';
import {
  type WebhookAuthorizerOptions,
  webhookAuthorizer,
  webhookRules,
} from './webhook-authorizer.js';

export interface AuthorizationDependencies {
  readonly policy: RbacPolicy;
  /** The policies of the mode ABAC. */
  readonly abacPolicies: AbacPolicies;
  readonly node: NodeAuthorizerDependencies;
  /** Undefined unless the modes include Webhook. */
  readonly webhook: WebhookAuthorizerOptions | undefined;
}

export interface Authorization {
  readonly authorize: Authorizer;
  readonly listRules: RuleLister;
}

const modes = {
  Node: ({ node }: AuthorizationDependencies) => ({
    authorize: nodeAuthorizer(node),
    listRules: nodeRules,
  }),
  AlwaysAllow: () => ({
    authorize: unionOfAuthorizers([clusterAdministration, authenticatedUsers, openPathReads]),
    listRules: listAuthenticatedRules,
  }),
  ABAC: ({ abacPolicies }: AuthorizationDependencies) => ({
    authorize: abacAuthorizer(abacPolicies),
    listRules: abacRules(abacPolicies),
  }),
  AlwaysDeny: () => ({ authorize: () => deny, listRules: noRules }),
  RBAC: ({ policy }: AuthorizationDependencies) => ({
    authorize: rbacAuthorizer(policy),
    listRules: rbacRules(policy),
  }),
  Webhook: ({ webhook }: AuthorizationDependencies) => {
    if (!webhook) throw new Error('the mode Webhook has no webhook');
    return { authorize: webhookAuthorizer(webhook), listRules: webhookRules };
  },
} satisfies Record<string, (dependencies: AuthorizationDependencies) => Authorization>;

export type AuthorizationMode = keyof typeof modes;
export const authorizationModes = Object.keys(modes) as readonly AuthorizationMode[];

/** The modes in the given order, after the users who may do everything. */
export function createAuthorization(
  names: readonly AuthorizationMode[],
  dependencies: AuthorizationDependencies,
): Authorization {
  const selected = names.map((name) => modes[name](dependencies));
  return {
    authorize: unionOfAuthorizers([privilegedUsers, ...selected.map(({ authorize }) => authorize)]),
    listRules: unionOfRules(selected.map(({ listRules }) => listRules)),
  };
}
