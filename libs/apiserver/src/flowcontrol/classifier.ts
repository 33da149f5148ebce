/**
 * Which flow schema a request belongs to: the first one, in the order of matching precedence, of which a
 * rule matches. What is the same for all requests of a user (the rules that are theirs) is found once
 * and remembered; a classifier lives as long as the schemas stay as they are.
 */
import type { User } from '../authentication/user.js';
import { classifiedUsersMax } from '../limits.js';
import type { RequestInfo } from '../request/request-info.js';
import type { FlowRule } from './flow-rules.js';

export interface RuledBy {
  readonly rules: readonly FlowRule[];
}

interface Candidate<Schema> {
  readonly schema: Schema;
  readonly rules: readonly FlowRule[];
}

interface KnownUser<Schema> {
  readonly groups: readonly string[];
  readonly candidates: readonly Candidate<Schema>[];
}

export class Classifier<Schema extends RuledBy> {
  private readonly users = new Map<string, KnownUser<Schema>>();

  /** `schemas`: in the order in which they count. `otherwise`: for what none of them matches. */
  constructor(
    private readonly schemas: readonly Schema[],
    private readonly otherwise: Schema,
  ) {}

  schemaOf(user: User, info: RequestInfo): Schema {
    for (const { schema, rules } of this.candidatesOf(user)) {
      for (const rule of rules) if (rule.matches(info)) return schema;
    }
    return this.otherwise;
  }

  private candidatesOf(user: User): readonly Candidate<Schema>[] {
    const { name, groups } = user;
    const known = this.users.get(name);
    if (known && hasSame(known.groups, groups)) return known.candidates;
    const candidates = this.findCandidates(user);
    if (this.users.size >= classifiedUsersMax) this.users.clear();
    this.users.set(name, { groups, candidates });
    return candidates;
  }

  private findCandidates(user: User): Candidate<Schema>[] {
    const candidates: Candidate<Schema>[] = [];
    for (const schema of this.schemas) {
      const rules = schema.rules.filter((rule) => rule.isOf(user));
      if (rules.length > 0) candidates.push({ schema, rules });
      if (rules.some(({ matchesAll }) => matchesAll)) break;
    }
    return candidates;
  }
}

function hasSame(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}
