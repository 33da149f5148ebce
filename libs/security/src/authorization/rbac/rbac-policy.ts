/**
 * The roles and bindings of the cluster in memory. The follower of the store calls the setters; the
 * authorizer and the escalation check read. Nothing here reads the store.
 */
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
} from '@orch/types/rbac.authorization/v1';
import type { User } from '../../authentication/user.js';
import { CompiledRole } from './compiled-role.js';
import { GrantIndex, type RoleGrant } from './role-grants.js';

/** A role that a binding refers to and that does not exist. */
export interface MissingRole {
  readonly kind: string;
  readonly name: string;
}

/** The rules of all roles of a user, and the roles of theirs that do not exist. */
export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  readonly missing: readonly MissingRole[];
}

export class RbacPolicy {
  /** Whether it has the roles and bindings that were stored when this server started. */
  isSynced = false;
  /** Increases with each change of a role or binding. */
  generation = 0;
  /** By namespace, which is empty for cluster roles, then by name. */
  private readonly roles = new Map<string, Map<string, CompiledRole>>();
  private readonly grants = new Map<string, GrantIndex>();

  setRole(namespace: string, name: string, { rules }: ClusterRole | Role): void {
    this.generation += 1;
    const roles = this.roles.get(namespace) ?? new Map<string, CompiledRole>();
    this.roles.set(namespace, roles.set(name, new CompiledRole(rules ?? [])));
  }

  deleteRole(namespace: string, name: string): void {
    this.generation += 1;
    const roles = this.roles.get(namespace);
    roles?.delete(name);
    if (roles?.size === 0) this.roles.delete(namespace);
  }

  setBinding(namespace: string, name: string, binding: ClusterRoleBinding | RoleBinding): void {
    this.generation += 1;
    const index = this.grants.get(namespace) ?? new GrantIndex(namespace);
    this.grants.set(namespace, index);
    index.set(name, binding);
  }

  deleteBinding(namespace: string, name: string): void {
    this.generation += 1;
    const index = this.grants.get(namespace);
    index?.delete(name);
    if (index?.size === 0) this.grants.delete(namespace);
  }

  role(namespace: string, name: string): CompiledRole | undefined {
    return this.roles.get(namespace)?.get(name);
  }

  roleOf({ roleNamespace, roleRef }: RoleGrant): CompiledRole | undefined {
    return roleNamespace === undefined ? undefined : this.role(roleNamespace, roleRef.name);
  }

  /**
   * Calls `visit` for each grant to the user in the whole cluster, then in the namespace unless it
   * is empty, until it returns true.
   */
  visit(user: User, namespace: string, visit: (grant: RoleGrant) => boolean): void {
    if (this.grants.get('')?.visit(user, visit)) return;
    if (namespace !== '') this.grants.get(namespace)?.visit(user, visit);
  }

  /** What the user may do in the namespace; in the whole cluster if it is empty. */
  heldRules(user: User, namespace: string): HeldRules {
    const seen = new Set<RoleGrant['binding']>();
    const rules: PolicyRule[] = [];
    const missing: MissingRole[] = [];
    this.visit(user, namespace, (grant) => {
      if (seen.has(grant.binding)) return false;
      seen.add(grant.binding);
      const role = this.roleOf(grant);
      if (role) rules.push(...role.rules);
      else missing.push({ kind: grant.roleRef.kind, name: grant.roleRef.name });
      return false;
    });
    return { rules, missing };
  }
}
