/**
 * Role-based decisions by the words of the documentation alone: every question reads every binding.
 * It shares no code with the product, so that a mistake there is not repeated here.
 */
import type { RequestAttributes, User } from '@orch/security';
import type { PolicyRule, RoleBinding, RoleRef, Subject } from '@orch/types/rbac.authorization/v1';

/** `namespace` is empty for cluster roles and cluster role bindings. */
interface Named {
  readonly namespace: string;
  readonly name: string;
}
interface ModelRole extends Named {
  readonly rules: readonly PolicyRule[];
}
interface ModelBinding extends Named {
  readonly roleRef: RoleRef;
  readonly subjects: readonly Subject[];
}

/** `reasons`: the texts that the decision may have; more than one binding may allow a request. */
export interface ModelDecision {
  readonly isAllowed: boolean;
  readonly reasons: ReadonlySet<string>;
  readonly missingRoles: ReadonlySet<string>;
}

export class RbacModel {
  private roles: ModelRole[] = [];
  private bindings: ModelBinding[] = [];

  setRole(namespace: string, name: string, rules: readonly PolicyRule[]): void {
    this.deleteRole(namespace, name);
    this.roles.push({ namespace, name, rules });
  }

  deleteRole(namespace: string, name: string): void {
    this.roles = this.roles.filter((role) => role.namespace !== namespace || role.name !== name);
  }

  setBinding(namespace: string, name: string, { roleRef, subjects = [] }: RoleBinding): void {
    this.deleteBinding(namespace, name);
    this.bindings.push({ namespace, name, roleRef, subjects });
  }

  deleteBinding(namespace: string, name: string): void {
    this.bindings = this.bindings.filter(
      (binding) => binding.namespace !== namespace || binding.name !== name,
    );
  }

  decide(user: User, info: RequestAttributes): ModelDecision {
    const applying = this.applying(user, info.namespace);
    const allowing = applying.filter((binding) =>
      this.rulesOf(binding)?.some((rule) => ruleAllows(rule, info)),
    );
    // Bindings of the cluster are evaluated first.
    const clusterWide = allowing.filter(({ namespace }) => namespace === '');
    const deciding = clusterWide.length > 0 ? clusterWide : allowing;
    const missing = applying.filter((binding) => this.rulesOf(binding) === undefined);
    return {
      isAllowed: allowing.length > 0,
      reasons: new Set(deciding.map((binding) => reasonOf(binding, user))),
      missingRoles: new Set(missing.map(({ roleRef }) => `${roleRef.kind} ${roleRef.name}`)),
    };
  }

  /** The rules of every role bound to the user. */
  rules(user: User, namespace: string): PolicyRule[] {
    return this.applying(user, namespace).flatMap((binding) => this.rulesOf(binding) ?? []);
  }

  private applying(user: User, namespace: string): ModelBinding[] {
    return this.bindings.filter(
      (binding) =>
        (binding.namespace === '' || binding.namespace === namespace) &&
        binding.subjects.some((subject) => isSubject(subject, binding.namespace, user)),
    );
  }

  /** A role binding refers to a role of its namespace or to a cluster role. */
  private rulesOf({ namespace, roleRef }: ModelBinding): readonly PolicyRule[] | undefined {
    if (roleRef.kind === 'Role' && namespace === '') return undefined;
    if (roleRef.kind !== 'Role' && roleRef.kind !== 'ClusterRole') return undefined;
    const roleNamespace = roleRef.kind === 'Role' ? namespace : '';
    return this.roles.find((role) => role.namespace === roleNamespace && role.name === roleRef.name)
      ?.rules;
  }
}

function isSubject({ kind, name, namespace }: Subject, ownNamespace: string, user: User): boolean {
  if (kind === 'User') return user.name === name;
  if (kind === 'Group') return user.groups.includes(name);
  if (kind !== 'ServiceAccount') return false;
  const accountNamespace = namespace || ownNamespace;
  return (
    accountNamespace !== '' && user.name === `system:serviceaccount:${accountNamespace}:${name}`
  );
}

export function ruleAllows(rule: PolicyRule, info: RequestAttributes): boolean {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [] } = rule;
  const has = (list: readonly string[], value: string) =>
    list.includes('*') || list.includes(value);
  if (!has(verbs, info.verb)) return false;
  if (!info.isResource) {
    return (rule.nonResourceURLs ?? []).some((url) => urlAllows(url, info.path));
  }
  const wanted =
    info.subresource === ''
      ? [info.resource]
      : [`${info.resource}/${info.subresource}`, `*/${info.subresource}`];
  return (
    has(apiGroups, info.group) &&
    wanted.some((resource) => has(resources, resource)) &&
    (resourceNames.length === 0 || resourceNames.includes(info.name))
  );
}

/** Only stars at the end have a meaning. */
export function urlAllows(url: string, path: string): boolean {
  if (url === path) return true;
  let prefix = url;
  while (prefix.endsWith('*')) prefix = prefix.slice(0, -1);
  return prefix !== url && path.startsWith(prefix);
}

function reasonOf({ namespace, name, roleRef, subjects }: ModelBinding, user: User): string {
  const subject = subjects.find((each) => isSubject(each, namespace, user))!;
  const who =
    subject.kind === 'ServiceAccount'
      ? `${subject.name}/${subject.namespace || namespace}`
      : subject.name;
  const by =
    namespace === '' ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
  return `RBAC: allowed by ${by} of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${who}"`;
}
