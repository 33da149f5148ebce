/** `orchctl create role` and `orchctl create clusterrole`. */
import { dialect } from '@orch/component';
import type { ClusterRole, Role } from '@orch/types/rbac.authorization/v1';
import type { Command } from 'commander';
import { policyRules, type RuleFlags } from '../access/policy-rules.js';
import { UsageError } from '../command-line/errors.js';
import { repeated, repeatedList } from '../command-line/repeated.js';
import type { CommandContext } from '../session/command-context.js';
import { createObject, createSubcommand } from './create-object.js';

interface ClusterRoleFlags extends RuleFlags {
  readonly aggregationRule?: readonly string[];
}

export function addCreateRoles(create: Command, context: CommandContext): void {
  const role = createSubcommand(create, 'role', 'create a role with one rule per API group');
  addRuleFlags(role).action(async (name: string, flags: RuleFlags) => {
    if (!flags.verb) throw new UsageError('at least one verb must be specified');
    if (!flags.resource) throw new UsageError('at least one resource must be specified');
    const object: Role = { metadata: { name }, rules: await rulesOf(flags, context) };
    await createObject({ plural: typeName('roles'), object }, role, context);
  });
  const clusterRole = createSubcommand(create, 'clusterrole', 'create a cluster role');
  addRuleFlags(clusterRole)
    .option(
      '--non-resource-url <path>',
      'paths that the rule allows, such as /metrics or /logs/*; may be repeated',
      repeatedList,
    )
    .option(
      '--aggregation-rule <labels>',
      'KEY=VALUE,...: aggregate the rules of cluster roles with these labels',
      repeatedList,
    )
    .action(async (name: string, flags: ClusterRoleFlags) => {
      const rules = await clusterRoleOf(flags, context);
      const object: ClusterRole = { metadata: { name }, ...rules };
      await createObject({ plural: typeName('clusterroles'), object }, clusterRole, context);
    });
}

function addRuleFlags(command: Command): Command {
  return command
    .option('--verb <verbs>', 'verbs that the rules allow; may be repeated', repeatedList)
    .option(
      '--resource <types>',
      'TYPE[.GROUP][/SUBRESOURCE] that the rules apply to; may be repeated',
      repeatedList,
    )
    .option('--resource-name <name>', 'object that the rules apply to; may be repeated', repeated);
}

/** The name of a type of the group with roles, for the catalog. */
export function typeName(plural: string): string {
  return `${plural}.${dialect().group('rbac.authorization')}`;
}

async function rulesOf(flags: RuleFlags, context: CommandContext) {
  const { catalog } = await context.session();
  const { rules, warnings } = await policyRules(flags, catalog);
  for (const warning of warnings) context.io.err(`Warning: ${warning}\n`);
  return rules;
}

async function clusterRoleOf(
  flags: ClusterRoleFlags,
  context: CommandContext,
): Promise<Pick<ClusterRole, 'rules' | 'aggregationRule'>> {
  const { aggregationRule, verb, resource, resourceName, nonResourceUrl } = flags;
  if (!aggregationRule) {
    if (verb && !resource && !nonResourceUrl) {
      throw new UsageError('one of resource or nonResourceURL must be specified');
    }
    return { rules: await rulesOf(flags, context) };
  }
  if (verb || resource || resourceName || nonResourceUrl) {
    throw new UsageError(
      'aggregation rule must be specified without nonResourceURLs, verbs, resources or resourceNames',
    );
  }
  // `typeName` needs the dialect, which the session selects.
  await context.session();
  const matchLabels = Object.fromEntries(aggregationRule.map(labelOf));
  return { aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } };
}

function labelOf(text: string): [key: string, value: string] {
  const equals = text.indexOf('=');
  if (equals > 0) return [text.slice(0, equals), text.slice(equals + 1)];
  throw new UsageError(`--aggregation-rule: want KEY=VALUE, got ${text}`);
}
