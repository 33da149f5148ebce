/**
 * What the roles of a user say about requests that differ in nothing but the name of their object.
 */
import { quote } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Attributes, RequestAttributes } from '../attributes.js';
import { type Decision, noOpinion } from '../authorizer.js';
import { type CompiledRule, ruleTarget } from './compiled-role.js';
import type { MissingRole, RbacPolicy } from './rbac-policy.js';
import type { RoleGrant } from './role-grants.js';

interface Candidate {
  readonly rule: CompiledRule;
  readonly allowed: Decision;
}

interface Found {
  readonly rule: CompiledRule;
  readonly grant: RoleGrant;
}

export class Findings {
  constructor(
    /** In the order of the grants, up to the first rule that allows all object names. */
    private readonly candidates: readonly Candidate[],
    private readonly otherwise: Decision,
  ) {}

  /** Measure of its memory. */
  get size(): number {
    return 1 + this.candidates.length;
  }

  /** `info` may differ from the request of these findings in the name only. */
  decide(info: RequestAttributes): Decision {
    for (const { rule, allowed } of this.candidates) if (rule.allowsName(info)) return allowed;
    return this.otherwise;
  }
}

export function findingsOf(policy: RbacPolicy, attributes: Attributes): Findings {
  const { user, info } = attributes;
  const target = ruleTarget(info);
  const found: Found[] = [];
  const missing: MissingRole[] = [];
  policy.visit(user, info.namespace, (grant) => {
    const role = policy.roleOf(grant);
    if (role === undefined) {
      missing.push(grant.roleRef);
      return false;
    }
    for (const rule of role.allowingIgnoringName(target)) {
      found.push({ rule, grant });
      if (rule.allowsEveryName(info)) return true;
    }
    return false;
  });
  return new Findings(
    namingFirstSubjects(policy, attributes, found),
    missing.length === 0
      ? noOpinion
      : { ...noOpinion, reason: `RBAC: ${missingRolesText(missing)}` },
  );
}

/** A decision names the first subject of the binding that is the user. */
function namingFirstSubjects(
  policy: RbacPolicy,
  { user, info }: Attributes,
  found: readonly Found[],
): Candidate[] {
  if (found.every(({ grant }) => grant.binding.subjects?.length === 1)) {
    return found.map(({ rule, grant }) => ({ rule, allowed: grant.allowed }));
  }
  const first = new Map(found.map(({ grant }) => [grant.binding, grant]));
  policy.visit(user, info.namespace, (grant) => {
    const other = first.get(grant.binding);
    if (other && grant.position < other.position) first.set(grant.binding, grant);
    return false;
  });
  return found.map(({ rule, grant }) => ({ rule, allowed: first.get(grant.binding)!.allowed }));
}

/** One error per role, in brackets if there are several. */
export function missingRolesText(missing: readonly MissingRole[]): string {
  const group = dialect().group('rbac.authorization');
  const texts = new Set(
    missing.map(({ kind, name }) => `${kind.toLowerCase()}.${group} ${quote(name)} not found`),
  );
  return texts.size === 1 ? [...texts].join() : `[${[...texts].join(', ')}]`;
}
