/**
 * Prevents privilege escalation through roles. A write of a role requires that its user holds every
 * rule of the role or may `escalate` it; a write of a binding requires that the user holds every
 * rule of its role or may `bind` the role. Runs after the mutating plugins and before validation,
 * whatever plugins are selected. A write that changes only a label is checked too.
 */
import { missingRules } from '@orch/api';
import { forbiddenObject, notFound, quote, type StatusError } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { AdmissionPlugin, AdmissionRequest } from '@orch/registry';
import {
  type Authorizer,
  type MissingRole,
  privilegedGroup,
  type RbacPolicy,
  type RequestAttributes,
} from '@orch/security';
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  RoleRef,
} from '@orch/types/rbac.authorization/v1';
import { changesCollectionFieldsOnly } from '../collection-fields.js';
import { describeRules, quoted } from './missing-rules.js';

export interface RoleEscalationDependencies {
  readonly policy: RbacPolicy;
  readonly authorize: Authorizer;
  /** Resolves when the policy contains every write that was committed before the call. */
  readonly refresh: (deadlineMs: number) => Promise<void>;
}

const groupHead = 'rbac.authorization';
const everything: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

export function roleEscalation(dependencies: RoleEscalationDependencies): AdmissionPlugin {
  return {
    name: 'RoleEscalation',
    mutate(request) {
      const { definition } = request.served;
      if (definition.stored.group !== groupHead || request.operation === 'DELETE') return;
      if (request.context.user.groups.includes(privilegedGroup)) return;
      // The garbage collector may release any object.
      if (changesCollectionFieldsOnly(request.object, request.old)) return;
      return new EscalationCheck(dependencies, request).run();
    },
  };
}

class EscalationCheck {
  constructor(
    private readonly dependencies: RoleEscalationDependencies,
    private readonly request: AdmissionRequest,
  ) {}

  async run(): Promise<void> {
    const { request } = this;
    const isRole = request.served.definition.plural.endsWith('roles');
    if (isRole ? await this.mayEscalate() : await this.mayBind()) return;
    const check = () => (isRole ? this.checkRole() : this.checkBinding());
    if (!check()) return;
    // Memory may lack a role or binding that another server has just written.
    await this.dependencies.refresh(request.context.deadlineMs);
    const refusal = check();
    if (refusal) throw refusal;
  }

  private mayEscalate(): Promise<boolean> {
    const { namespace, context, served } = this.request;
    const resource = served.definition.plural;
    return this.allows({
      verb: 'escalate',
      namespace,
      name: context.pathName,
      resource,
    });
  }

  private async mayBind(): Promise<boolean> {
    const { roleRef } = this.request.object as RoleBinding;
    const resource = pluralOf(roleRef);
    if (resource === undefined) return false;
    const { namespace } = this.request;
    return this.allows({ verb: 'bind', namespace, name: roleRef.name ?? '', resource });
  }

  private async allows(
    asked: Pick<RequestAttributes, 'verb' | 'namespace' | 'name' | 'resource'>,
  ): Promise<boolean> {
    const { user } = this.request.context;
    const info: RequestAttributes = {
      ...asked,
      isResource: true,
      path: '',
      group: dialect().group(groupHead),
      version: '*',
      subresource: '',
    };
    return (await this.dependencies.authorize({ user, info })).verdict === 'allow';
  }

  /** The refusal; undefined if the user holds every rule of the role. */
  private checkRole(): StatusError | undefined {
    const { object, old } = this.request;
    const { aggregationRule, rules = [] } = object as ClusterRole & Role;
    if (aggregationRule || (old as ClusterRole | undefined)?.aggregationRule) {
      if (this.isHeld(everything)) return undefined;
      return this.refusal('must have cluster-admin privileges to use the aggregationRule');
    }
    return this.checkRules(rules);
  }

  private checkBinding(): StatusError | undefined {
    const { namespace, object } = this.request;
    const { roleRef } = object as ClusterRoleBinding | RoleBinding;
    const resource = pluralOf(roleRef);
    // Validation rejects the reference.
    if (resource === undefined) return undefined;
    const roleNamespace = roleRef.kind === 'Role' ? namespace : '';
    const role = this.dependencies.policy.role(roleNamespace, roleRef.name);
    if (!role) return notFound({ group: dialect().group(groupHead), resource }, roleRef.name);
    return this.checkRules(role.rules);
  }

  private isHeld(rules: readonly PolicyRule[]): boolean {
    const { namespace, context } = this.request;
    const held = this.dependencies.policy.heldRules(context.user, namespace);
    return missingRules(held.rules, rules).length === 0;
  }

  private checkRules(rules: readonly PolicyRule[]): StatusError | undefined {
    const { namespace, context } = this.request;
    const { user } = context;
    const held = this.dependencies.policy.heldRules(user, namespace);
    const missing = missingRules(held.rules, rules);
    if (missing.length === 0) return undefined;
    const unresolved = held.missing.map(unresolvedText);
    return this.refusal(
      `user ${quote(user.name)} (groups=${quoted(user.groups)}) is attempting to grant ` +
        `RBAC permissions not currently held:\n${describeRules(missing)}` +
        (unresolved.length > 0 ? `; resolution errors: [${unresolved.join(' ')}]` : ''),
    );
  }

  private refusal(cause: string): StatusError {
    const { served, name } = this.request;
    return forbiddenObject(served.groupResource, name, cause);
  }
}

/** Undefined for an invalid reference. */
function pluralOf({ kind }: Pick<RoleRef, 'kind'>): string | undefined {
  if (kind === 'ClusterRole') return 'clusterroles';
  return kind === 'Role' ? 'roles' : undefined;
}

function unresolvedText({ kind, name }: MissingRole): string {
  const plural = pluralOf({ kind }) ?? kind;
  return `${plural}.${dialect().group(groupHead)} ${quote(name)} not found`;
}
