/**
 * Selects the flow schema of a request: the first one, in the order of matching precedence, with a
 * rule that matches. The rules that apply to a user are cached. A classifier lives until schemas
 * change.
 */
import type { User } from '@orch/security';
import type { RequestInfo } from '../http/request-info.js';
import { classifiedUsersMax } from '../limits.js';
import type { FlowRule } from './flow-rules.js';

export interface RuledBy {
  readonly rules: readonly FlowRule[];
}

interface Candidate<Schema> {
  readonly schema: Schema;
  readonly rules: readonly FlowRule[];
}

interface CachedUser<Schema> {
  readonly groups: readonly string[];
  readonly candidates: readonly Candidate<Schema>[];
}

export class Classifier<Schema extends RuledBy> {
  private readonly users = new Map<string, CachedUser<Schema>>();

  /** `schemas`: in order of precedence. `otherwise`: for requests that none of them matches. */
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
    const cached = this.users.get(name);
    if (cached && hasSame(cached.groups, groups)) return cached.candidates;
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
