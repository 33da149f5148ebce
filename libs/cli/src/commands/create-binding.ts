/** `orchctl create rolebinding` and `orchctl create clusterrolebinding`. */
import { dialect } from '@orch/component';
import type { RoleBinding, Subject } from '@orch/types/rbac.authorization/v1';
import type { Command } from 'commander';
import { UsageError } from '../command-line/errors.js';
import { repeated } from '../command-line/repeated.js';
import type { CommandContext } from '../session/command-context.js';
import { createObject, createSubcommand } from './create-object.js';

interface SubjectFlags {
  readonly user?: readonly string[];
  readonly group?: readonly string[];
  readonly serviceaccount?: readonly string[];
}

interface BindingFlags extends SubjectFlags {
  readonly role?: string;
  readonly clusterrole?: string;
}

export function addCreateBindings(create: Command, context: CommandContext): void {
  const binding = createSubcommand(create, 'rolebinding', 'create a role binding');
  addSubjectFlags(binding.option('--role <name>', 'role of the namespace to bind')).action(
    async (name: string, flags: BindingFlags) => {
      if ((flags.role === undefined) === (flags.clusterrole === undefined)) {
        throw new UsageError('exactly one of clusterrole or role must be specified');
      }
      await createBinding('rolebindings', name, flags, binding, context);
    },
  );
  const clusterBinding = createSubcommand(
    create,
    'clusterrolebinding',
    'create a cluster role binding',
  );
  addSubjectFlags(clusterBinding).action(async (name: string, flags: BindingFlags) => {
    if (flags.clusterrole === undefined) throw new UsageError('clusterrole must be specified');
    await createBinding('clusterrolebindings', name, flags, clusterBinding, context);
  });
}

function addSubjectFlags(command: Command): Command {
  return command
    .option('--clusterrole <name>', 'cluster role to bind')
    .option('--user <name>', 'user that gets the permissions; may be repeated', repeated)
    .option('--group <name>', 'group that gets the permissions; may be repeated', repeated)
    .option(
      '--serviceaccount <namespace:name>',
      'service account that gets the permissions; may be repeated',
      repeated,
    );
}

async function createBinding(
  plural: string,
  name: string,
  flags: BindingFlags,
  command: Command,
  context: CommandContext,
): Promise<void> {
  const accounts = (flags.serviceaccount ?? []).map(accountOf);
  // The session selects the dialect of the group.
  await context.session();
  const apiGroup = dialect().group('rbac.authorization');
  const [kind, role = ''] =
    flags.role === undefined ? ['ClusterRole', flags.clusterrole] : ['Role', flags.role];
  const subject = (subjectKind: string) => (subjectName: string) => ({
    apiGroup,
    kind: subjectKind,
    name: subjectName,
  });
  const users = (flags.user ?? []).map(subject('User'));
  const groups = (flags.group ?? []).map(subject('Group'));
  const object: RoleBinding = {
    metadata: { name },
    roleRef: { apiGroup, kind, name: role },
    subjects: [...users, ...groups, ...accounts],
  };
  await createObject({ plural: `${plural}.${apiGroup}`, object }, command, context);
}

function accountOf(text: string): Subject {
  const [namespace, name, ...rest] = text.split(':');
  if (namespace && name && rest.length === 0) return { kind: 'ServiceAccount', namespace, name };
  throw new UsageError('serviceaccount must be <namespace>:<name>');
}
