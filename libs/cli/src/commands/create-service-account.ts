/** `orchctl create serviceaccount`, and `orchctl create token` for the tokens of one. */
import type { TokenRequest } from '@orch/types/authentication/v1';
import type { Command } from 'commander';
import { CliError, UsageError } from '../command-line/errors.js';
import { durationMs } from '../command-line/option-values.js';
import { repeated } from '../command-line/repeated.js';
import { objectText, outputFormat } from '../output/object-text.js';
import type { CommandContext } from '../session/command-context.js';
import { createObject, createSubcommand, sharedOptions } from './create-object.js';

export interface TokenFlags {
  readonly audience?: readonly string[];
  readonly duration?: string;
  readonly boundObjectKind?: string;
  readonly boundObjectName?: string;
  readonly boundObjectUid?: string;
}

/** Kinds that a token can be bound to, by the interface of the server. */
const boundKinds = ['Pod', 'Secret'];

export function addCreateServiceAccount(create: Command, context: CommandContext): void {
  const account = createSubcommand(create, 'serviceaccount', 'create a service account');
  account.alias('sa').action(async (name: string) => {
    await createObject(
      { plural: 'serviceaccounts', object: { metadata: { name } } },
      account,
      context,
    );
  });
}

export function addCreateToken(create: Command, context: CommandContext): void {
  const command = createSubcommand(create, 'token', 'request a token of a service account')
    .option(
      '--audience <audience>',
      'intended audience of the token; default: the API server; may be repeated',
      repeated,
    )
    .option(
      '--duration <duration>',
      'requested lifetime, such as 10m; default and 0: the server decides',
    )
    .option(
      '--bound-object-kind <kind>',
      `kind of the object that the token is bound to: ${boundKinds.join(', ')}; the token is invalid after the object is deleted`,
    )
    .option('--bound-object-name <name>', 'name of the object that the token is bound to')
    .option('--bound-object-uid <uid>', 'UID of the object; default: that of the existing object');
  command.action(async (name: string, flags: TokenFlags) => {
    const shared = sharedOptions(command);
    if (shared.dryRun !== undefined || shared.saveConfig) {
      throw new UsageError('create token supports neither --dry-run nor --save-config');
    }
    const format = outputFormat(shared.output);
    const request = tokenRequest(flags);
    const { client, namespace } = await context.session();
    const accounts = client.resource(
      { group: 'core', version: 'v1', plural: 'serviceaccounts' },
      namespace,
    );
    const tokens = accounts.subresource<TokenRequest>(name, 'token');
    const created = await tokens.create(request, { fieldManager: shared.fieldManager });
    if (!created.status?.token) throw new CliError('the server returned no token');
    const text =
      format.kind === 'table'
        ? `${created.status.token}\n`
        : objectText(created, format, 'tokenrequest.authentication');
    context.io.out(text);
  });
}

/** Throws `UsageError` for flags that contradict each other. */
export function tokenRequest(flags: TokenFlags): TokenRequest {
  const { audience: audiences, boundObjectKind: kind, boundObjectName: name } = flags;
  const { boundObjectUid: uid, duration } = flags;
  if (kind === undefined) {
    if (name !== undefined) {
      throw new UsageError(
        '--bound-object-name can only be set if --bound-object-kind is provided',
      );
    }
    if (uid !== undefined) {
      throw new UsageError('--bound-object-uid can only be set if --bound-object-kind is provided');
    }
  } else {
    if (!boundKinds.includes(kind)) {
      throw new UsageError(`supported --bound-object-kind values are ${boundKinds.join(', ')}`);
    }
    if (!name) {
      throw new UsageError('--bound-object-name is required if --bound-object-kind is provided');
    }
  }
  const seconds = duration === undefined ? 0 : secondsOf(duration);
  return {
    spec: {
      ...(audiences && { audiences: [...audiences] }),
      ...(seconds > 0 && { expirationSeconds: seconds }),
      ...(kind !== undefined && {
        boundObjectRef: { kind, apiVersion: 'v1', name, ...(uid !== undefined && { uid }) },
      }),
    },
  };
}

function secondsOf(duration: string): number {
  const seconds = durationMs('--duration', duration) / 1_000;
  if (seconds < 0) throw new UsageError('--duration must be greater than or equal to 0');
  if (!Number.isInteger(seconds)) {
    throw new UsageError('--duration cannot be expressed in units less than seconds');
  }
  return seconds;
}
