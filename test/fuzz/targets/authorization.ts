/** Decisions by roles and by policy files, compared with models written from the documentation. */
import assert from 'node:assert/strict';
import { codecFor, SchemaError } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import {
  type Authorizer,
  type Decision,
  RbacPolicy,
  type RequestAttributes,
  type User,
} from '@orch/security';
import type { ClusterRole, PolicyRule } from '@orch/types/rbac.authorization/v1';
import fc from 'fast-check';
import {
  abacAuthorizer,
  abacRules,
} from '../../../libs/security/src/authorization/abac/abac-authorizer.js';
import {
  AbacFileError,
  parseAbacFile,
} from '../../../libs/security/src/authorization/abac/abac-file.js';
import {
  rbacAuthorizer,
  rbacRules,
} from '../../../libs/security/src/authorization/rbac/rbac-authorizer.js';
import { abacLines } from '../inputs/abac-lines.js';
import { changedJson, jsonText } from '../inputs/json.js';
import {
  attributes,
  namespaces,
  type PolicyChange,
  policyChanges,
  policyRules,
  users,
} from '../inputs/policies.js';
import { abacAllows, abacModelRules } from '../models/abac-model.js';
import { RbacModel } from '../models/rbac-model.js';
import { asyncTarget, decodedOrRefused, type Target } from '../target.js';

const roundCount = 5;
const requestCount = 4;
/** Requests of each round that every round repeats, after its changes. */
const repeatedCount = 1;

const request = fc.tuple(users, attributes);
const round = fc.record({
  changes: fc.array(policyChanges, { minLength: 1, maxLength: 12 }),
  requests: fc.array(request, { minLength: requestCount, maxLength: requestCount }),
});

function applyTo(policy: RbacPolicy, model: RbacModel, change: PolicyChange): void {
  const { kind, namespace, name } = change;
  if (kind === 'set role') {
    policy.setRole(namespace, name, { rules: change.rules });
    model.setRole(namespace, name, change.rules);
  } else if (kind === 'set binding') {
    policy.setBinding(namespace, name, change.binding);
    model.setBinding(namespace, name, change.binding);
  } else if (kind === 'delete role') {
    policy.deleteRole(namespace, name);
    model.deleteRole(namespace, name);
  } else {
    policy.deleteBinding(namespace, name);
    model.deleteBinding(namespace, name);
  }
}

/**
 * Compares decision, reason and rules; equal users are one object, for which findings are
 * remembered.
 */
class Comparison {
  private readonly authorize: Authorizer;
  private readonly users = new Map<string, User>();

  constructor(
    private readonly policy: RbacPolicy,
    private readonly model: RbacModel,
  ) {
    this.authorize = rbacAuthorizer(policy);
  }

  async check([asking, info]: readonly [User, RequestAttributes]): Promise<void> {
    const key = JSON.stringify(asking);
    const user = this.users.get(key) ?? asking;
    this.users.set(key, user);
    compareDecisions(await this.authorize({ user, info }), this.model.decide(user, info));
    await compareRules(this.policy, this.model, user, info.namespace);
  }
}

function compareDecisions(
  { verdict, reason }: Decision,
  expected: ReturnType<RbacModel['decide']>,
): void {
  assert.equal(verdict, expected.isAllowed ? 'allow' : 'no opinion');
  if (expected.isAllowed) assert.ok(expected.reasons.has(reason), reason);
  else assert.deepEqual(missingRoles(reason), expected.missingRoles);
}

async function compareRules(
  policy: RbacPolicy,
  model: RbacModel,
  user: User,
  namespace: string,
): Promise<void> {
  const rules = await rbacRules(policy)(user, namespace);
  const expectedRules = model.rules(user, namespace);
  const having = (list: 'resources' | 'nonResourceURLs') =>
    expectedRules.filter((rule) => (rule[list] ?? []).length > 0);
  assert.deepEqual(verbsOf(rules.resourceRules), verbsOf(having('resources')));
  assert.deepEqual(verbsOf(rules.nonResourceRules), verbsOf(having('nonResourceURLs')));
}

/** In a fixed order, because the order of bindings has no meaning. */
function verbsOf(rules: readonly { readonly verbs?: string[] }[]): string[] {
  return rules.map(({ verbs }) => JSON.stringify(verbs)).sort();
}

/** The roles in the text of a denial, as `Kind name`. */
function missingRoles(reason: string): ReadonlySet<string> {
  const kinds: Readonly<Record<string, string>> = { clusterrole: 'ClusterRole', role: 'Role' };
  const pattern = /(\w+)\.rbac\.authorization\.[\w.]+ "(\w*)" not found/g;
  const found = [...reason.matchAll(pattern)].map(([, kind, name]) => `${kinds[kind!]} ${name}`);
  assert.equal(found.length === 0, reason === '', reason);
  return new Set(found);
}

/** The property for a policy, which a test replaces with one that has a fault. */
export function rbacDecisions(createPolicy: () => RbacPolicy = () => new RbacPolicy()): Target {
  return asyncTarget(
    'rbac-decisions',
    fc.array(round, { minLength: roundCount, maxLength: roundCount }),
    async (rounds) => {
      const policy = createPolicy();
      policy.isSynced = true;
      const model = new RbacModel();
      const comparison = new Comparison(policy, model);
      const asked = rounds.flatMap(({ requests }) => requests.slice(0, repeatedCount));
      for (const { changes, requests } of rounds) {
        for (const change of changes) applyTo(policy, model, change);
        for (const each of [...asked, ...requests]) await comparison.check(each);
      }
    },
  );
}

const roleNames = ['rules', 'verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'];
const oddRole = changedJson(
  policyRules.map((rules: PolicyRule[]) => ({ metadata: { name: 'r' }, rules })),
  roleNames,
);

/** Roles as clients send them, with fields missing, repeated, or of the wrong type. */
const oddRoles = asyncTarget(
  'odd-roles',
  fc.tuple(oddRole, fc.array(request, { minLength: 1, maxLength: 6 })),
  async ([sent, requests]) => {
    const decoded = decodedOrRefused(
      () => codecFor<ClusterRole>('rbac.authorization/v1.ClusterRole').fromJson(parsed(sent)),
      ...[SchemaError, SyntaxError],
    );
    if (!decoded) return;
    const policy = new RbacPolicy();
    policy.isSynced = true;
    const model = new RbacModel();
    const subjects = [{ kind: 'Group', name: 'dev' }];
    const roleRef = {
      apiGroup: dialect().group('rbac.authorization'),
      kind: 'ClusterRole',
      name: 'r',
    };
    policy.setRole('', 'r', decoded);
    model.setRole('', 'r', decoded.rules ?? []);
    policy.setBinding('', 'b', { roleRef, subjects });
    model.setBinding('', 'b', { roleRef, subjects });
    const comparison = new Comparison(policy, model);
    for (const [user, info] of requests) {
      await comparison.check([{ ...user, groups: ['dev'] }, info]);
    }
  },
);

function parsed(value: unknown): unknown {
  return JSON.parse(jsonText(value));
}

const policyFiles = asyncTarget(
  'policy-files',
  fc.tuple(abacLines, fc.array(request, { minLength: 1, maxLength: 6 })),
  async ([lines, requests]) => {
    const text = lines.join('\n');
    const policies = decodedOrRefused(() => parseAbacFile(text, 'file'), AbacFileError);
    if (!policies) return;
    const objects = text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => JSON.parse(line) as object);
    for (const [user, info] of requests) {
      const { verdict } = await abacAuthorizer(policies)({ user, info });
      const isAllowed = objects.some((object) => abacAllows(object, user, info));
      assert.equal(verdict, isAllowed ? 'allow' : 'no opinion');
      for (const namespace of namespaces) {
        const { resourceRules, nonResourceRules } = await abacRules(policies)(user, namespace);
        assert.deepEqual(
          [...resourceRules, ...nonResourceRules],
          abacModelRules(objects, user, namespace),
        );
      }
    }
  },
);

export const authorizationTargets: readonly Target[] = [rbacDecisions(), oddRoles, policyFiles];
