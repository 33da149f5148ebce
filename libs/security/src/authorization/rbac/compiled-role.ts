/**
 * The rules of a role in a form that decides quickly: every list of a rule is a set, and `*` is no
 * set at all.
 */
import type { PolicyRule } from '@orch/types/rbac.authorization/v1';
import type { RequestAttributes } from '../attributes.js';

const all = '*';

/** A request in the terms of rules, computed once for all rules. */
export interface RuleTarget {
  readonly attributes: RequestAttributes;
  /** `pods` or `pods/log`. */
  readonly resource: string;
  /** `*` and the subresource, as in rules. Undefined for a request of no subresource. */
  readonly anyResource: string | undefined;
}

export function ruleTarget(attributes: RequestAttributes): RuleTarget {
  const { resource, subresource } = attributes;
  if (subresource === '') return { attributes, resource, anyResource: undefined };
  return {
    attributes,
    resource: `${resource}/${subresource}`,
    anyResource: `${all}/${subresource}`,
  };
}

/** Undefined: every value matches. */
type Values = ReadonlySet<string> | undefined;

function valuesOf(list: readonly string[] | undefined): Values {
  return list?.includes(all) ? undefined : new Set(list);
}

function matches(values: Values, value: string): boolean {
  return values === undefined || values.has(value);
}

export class CompiledRule {
  private readonly verbs: Values;
  private readonly groups: Values;
  private readonly resources: Values;
  /** Undefined: objects of every name. `*` has no meaning in a name. */
  private readonly names: Values;
  private readonly urls: ReadonlySet<string>;
  private readonly urlPrefixes: readonly string[];

  constructor(rule: PolicyRule) {
    const { resourceNames = [], nonResourceURLs = [] } = rule;
    this.verbs = valuesOf(rule.verbs);
    this.groups = valuesOf(rule.apiGroups);
    this.resources = valuesOf(rule.resources);
    this.names = resourceNames.length === 0 ? undefined : new Set(resourceNames);
    this.urls = new Set(nonResourceURLs);
    this.urlPrefixes = nonResourceURLs
      .filter((url) => url.endsWith(all))
      .map((url) => url.replace(/\*+$/, ''));
  }

  allows(target: RuleTarget): boolean {
    return this.allowsIgnoringName(target) && this.allowsName(target.attributes);
  }

  /** Whether it allows the request for at least one object name. */
  allowsIgnoringName({ attributes, resource, anyResource }: RuleTarget): boolean {
    if (!matches(this.verbs, attributes.verb)) return false;
    if (!attributes.isResource) return this.allowsPath(attributes.path);
    return (
      matches(this.groups, attributes.group) &&
      (matches(this.resources, resource) ||
        (anyResource !== undefined && matches(this.resources, anyResource)))
    );
  }

  /** Whether it allows the name of a request that it allows apart from the name. */
  allowsName({ isResource, name }: RequestAttributes): boolean {
    return !isResource || matches(this.names, name);
  }

  /** Whether it allows all object names for a request that it allows apart from the name. */
  allowsEveryName({ isResource }: RequestAttributes): boolean {
    return !isResource || this.names === undefined;
  }

  private allowsPath(path: string): boolean {
    return this.urls.has(path) || this.urlPrefixes.some((prefix) => path.startsWith(prefix));
  }
}

export class CompiledRole {
  private readonly compiled: readonly CompiledRule[];

  constructor(readonly rules: readonly PolicyRule[]) {
    this.compiled = rules.map((rule) => new CompiledRule(rule));
  }

  allows(target: RuleTarget): boolean {
    return this.compiled.some((rule) => rule.allows(target));
  }

  /** The rules that allow the request for at least one object name. */
  allowingIgnoringName(target: RuleTarget): readonly CompiledRule[] {
    return this.compiled.filter((rule) => rule.allowsIgnoringName(target));
  }
}
