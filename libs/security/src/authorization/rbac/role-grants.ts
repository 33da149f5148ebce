/** Bindings, indexed by the users and groups that they name. */
import { quote } from '@orch/apimachinery';
import type {
  ClusterRoleBinding,
  RoleBinding,
  RoleRef,
  Subject,
} from '@orch/types/rbac.authorization/v1';
import type { User } from '../../authentication/user.js';
import type { Decision } from '../authorizer.js';

/** A role that a binding gives to one of its subjects. */
export interface RoleGrant {
  readonly binding: Binding;
  /**
   * Where the role is: the namespace of a Role, empty for a ClusterRole. Undefined: the binding
   * refers to no role that it may give.
   */
  readonly roleNamespace: string | undefined;
  readonly roleRef: RoleRef;
  /** Index of the subject in the binding. */
  readonly position: number;
  /** The decision if a rule of the role allows the request. */
  readonly allowed: Decision;
}

type Binding = ClusterRoleBinding | RoleBinding;

/** The bindings of a namespace, or those of the whole cluster. */
export class GrantIndex {
  private readonly byUser = new Map<string, RoleGrant[]>();
  private readonly byGroup = new Map<string, RoleGrant[]>();
  private readonly bindings = new Map<string, Binding>();

  /** `namespace`: of all bindings of this index; empty for those of the cluster. */
  constructor(private readonly namespace: string) {}

  get size(): number {
    return this.bindings.size;
  }

  set(name: string, binding: Binding): void {
    this.delete(name);
    this.bindings.set(name, binding);
    for (const [position, subject] of (binding.subjects ?? []).entries()) {
      const [index, key] = this.placeOf(subject);
      if (!index) continue;
      const grants = index.get(key);
      const grant = this.grantOf(name, binding, subject, position);
      if (grants) grants.push(grant);
      else index.set(key, [grant]);
    }
  }

  delete(name: string): void {
    const binding = this.bindings.get(name);
    if (!binding) return;
    this.bindings.delete(name);
    for (const subject of binding.subjects ?? []) {
      const [index, key] = this.placeOf(subject);
      const left = index?.get(key)?.filter((grant) => grant.binding !== binding);
      if (left && left.length > 0) index?.set(key, left);
      else index?.delete(key);
    }
  }

  /**
   * Calls `visit` for each grant to the user until it returns true, and returns whether it did. A
   * binding that names the user more than once is visited more than once.
   */
  visit(user: User, visit: (grant: RoleGrant) => boolean): boolean {
    if (this.byUser.get(user.name)?.some(visit)) return true;
    return user.groups.some((group) => this.byGroup.get(group)?.some(visit) ?? false);
  }

  /** The index of the subject and its key there; no index if it cannot be any user. */
  private placeOf({
    kind,
    name,
    namespace,
  }: Subject): [Map<string, RoleGrant[]> | undefined, string] {
    if (kind === 'User') return [this.byUser, name];
    if (kind === 'Group') return [this.byGroup, name];
    const accountNamespace = namespace || this.namespace;
    if (kind !== 'ServiceAccount' || accountNamespace === '') return [undefined, ''];
    return [this.byUser, `system:serviceaccount:${accountNamespace}:${name}`];
  }

  /** A binding of the cluster gives cluster roles only. */
  private roleNamespaceOf({ kind }: RoleRef): string | undefined {
    if (kind === 'ClusterRole') return '';
    return kind === 'Role' && this.namespace !== '' ? this.namespace : undefined;
  }

  private grantOf(name: string, binding: Binding, subject: Subject, position: number): RoleGrant {
    const { roleRef } = binding;
    const { namespace } = this;
    const described =
      namespace === ''
        ? `ClusterRoleBinding ${quote(name)}`
        : `RoleBinding ${quote(`${name}/${namespace}`)}`;
    const subjectName =
      subject.kind === 'ServiceAccount'
        ? `${subject.name}/${subject.namespace || namespace}`
        : subject.name;
    return {
      binding,
      roleRef,
      position,
      roleNamespace: this.roleNamespaceOf(roleRef),
      allowed: {
        verdict: 'allow',
        reason:
          `RBAC: allowed by ${described} of ${roleRef.kind} ${quote(roleRef.name)} ` +
          `to ${subject.kind} ${quote(subjectName)}`,
      },
    };
  }
}
