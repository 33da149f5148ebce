/**
 * The hooks of a kind, indexed by what the rules can decide: resource, subresource and operation.
 * The first request of a sort evaluates the rules, later ones look the result up, so that requests
 * which match nothing cost nothing.
 */
import { dialect } from '@orch/component';
import type { AdmissionOperation, ServedResource } from '@orch/registry';
import type { RuleWithOperations } from '@orch/types/admissionregistration/v1';
import type { Hook } from './hook.js';

/** A hook whose rules match. */
export interface Candidate {
  readonly hook: Hook;
  /** Among all hooks, in the order of calls. */
  readonly index: number;
  /** The version in which the hook sees the request. */
  readonly target: ServedResource;
}

type BySubresource = Map<string, readonly Candidate[]>;
type Memory = Record<AdmissionOperation, BySubresource>;

const none: readonly Candidate[] = [];

export class HookSet {
  static readonly empty = new HookSet([]);

  /** Resources of changed definitions are new objects. */
  private readonly memory = new WeakMap<ServedResource, Memory>();

  constructor(private readonly hooks: readonly Hook[]) {}

  candidates(
    served: ServedResource,
    subresource: string,
    operation: AdmissionOperation,
  ): readonly Candidate[] {
    if (this.hooks.length === 0) return none;
    let memory = this.memory.get(served);
    if (!memory) {
      memory = { CREATE: new Map(), UPDATE: new Map(), DELETE: new Map(), CONNECT: new Map() };
      this.memory.set(served, memory);
    }
    const known = memory[operation].get(subresource);
    if (known) return known;
    const found = this.find(served, subresource, operation);
    memory[operation].set(subresource, found);
    return found;
  }

  private find(
    served: ServedResource,
    subresource: string,
    operation: AdmissionOperation,
  ): readonly Candidate[] {
    if (isExempt(served)) return none;
    const found = this.hooks.flatMap((hook, index) => {
      const target = targetOf(hook, served, subresource, operation);
      return target ? [{ hook, index, target }] : [];
    });
    return found.length === 0 ? none : found;
  }
}

/** A webhook must not be able to prevent its own removal. */
function isExempt({ definition }: ServedResource): boolean {
  return definition.stored.group === 'admissionregistration';
}

function targetOf(
  hook: Hook,
  served: ServedResource,
  subresource: string,
  operation: AdmissionOperation,
): ServedResource | undefined {
  const matches = (candidate: ServedResource) => (rule: RuleWithOperations) =>
    ruleMatches(rule, candidate, subresource, operation);
  if (hook.rules.some(matches(served))) return served;
  if (!hook.matchesEquivalent) return undefined;
  const equivalents = [...served.resource.versions.values()].filter(
    (version) =>
      version !== served && !(subresource === 'status' && version.served.withoutStatus === true),
  );
  // Earlier rules count first.
  for (const rule of hook.rules) {
    const target = equivalents.find((equivalent) => matches(equivalent)(rule));
    if (target) return target;
  }
  return undefined;
}

function ruleMatches(
  rule: RuleWithOperations,
  served: ServedResource,
  subresource: string,
  operation: AdmissionOperation,
): boolean {
  const { apiGroups = [], apiVersions = [], operations = [], resources = [], scope } = rule;
  return (
    includes(operations, operation) &&
    includes(apiGroups, served.group) &&
    includes(apiVersions, served.version) &&
    isInScope(scope, served) &&
    resources.some((pattern) => resourceMatches(pattern, served.definition.plural, subresource))
  );
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

function isInScope(scope: string | undefined, { definition }: ServedResource): boolean {
  if (scope === 'Namespaced') return definition.namespaced;
  return scope === 'Cluster' ? !definition.namespaced : true;
}

function resourceMatches(pattern: string, plural: string, subresource: string): boolean {
  const slash = pattern.indexOf('/');
  const resource = slash < 0 ? pattern : pattern.slice(0, slash);
  const part = slash < 0 ? '' : pattern.slice(slash + 1);
  return (resource === '*' || resource === plural) && (part === '*' || part === subresource);
}

/** Whether the objects are namespaces, which are cluster-scoped and in their own namespace. */
export function isNamespaces({ group, definition }: ServedResource): boolean {
  return group === dialect().group('core') && definition.plural === 'namespaces';
}
