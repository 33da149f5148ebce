/** `orchctl certificate approve|deny`. */

import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import type { Command } from 'commander';
import { type ApprovalType, setApproval } from '../access/approval.js';
import { CliError, UsageError } from '../command-line/errors.js';
import { Failures } from '../command-line/failures.js';
import { ObjectTexts, outputFormat } from '../output/object-text.js';
import { place, titleOf } from '../resources/manifest-target.js';
import { readManifests } from '../resources/manifests.js';
import { singularTypeName } from '../session/catalog.js';
import type { CommandContext, Configure } from '../session/command-context.js';
import type { Session } from '../session/session.js';

interface ApprovalOptions {
  readonly filename?: string[];
  readonly recursive?: boolean;
  readonly force?: boolean;
  readonly output?: string;
}

const plural = 'certificatesigningrequests';

export const configureCertificate: Configure = (command, context) => {
  addApproval(command, context, 'approve', 'Approved');
  addApproval(command, context, 'deny', 'Denied');
};

function addApproval(
  command: Command,
  context: CommandContext,
  verb: string,
  type: ApprovalType,
): void {
  command
    .command(verb)
    .description(`${verb} certificate signing requests`)
    .argument('[names...]', 'names of certificate signing requests')
    .option('-f, --filename <file...>', 'files, directories, or - for standard input')
    .option('-R, --recursive', 'search directories recursively')
    .option('--force', `update requests that are ${type.toLowerCase()} already`)
    .option('-o, --output <format>', 'json, yaml or name; default: one line per request')
    .action(async (names: string[], options: ApprovalOptions) => {
      const format = outputFormat(options.output);
      const texts = new ObjectTexts(format);
      if (names.length === 0 && !options.filename) {
        throw new UsageError('one or more CSRs must be specified as <name> or -f <filename>');
      }
      const session = await context.session();
      const resource = await session.catalog.type(plural);
      const requests = session.client.resource<CertificateSigningRequest>({
        group: resource.group,
        version: resource.version,
        plural,
      });
      const failures = new Failures(context.io);
      for (const name of [...names, ...(await namesInFiles(options, session, context))]) {
        await failures.showing(async () => {
          const changed = await setApproval(requests, name, type, options.force ?? false);
          const text =
            format.kind === 'table'
              ? `${titleOf(resource, changed)} ${type.toLowerCase()}\n`
              : texts.next(changed, singularTypeName(resource));
          context.io.out(text);
        });
      }
      failures.end();
    });
}

async function namesInFiles(
  { filename, recursive = false }: ApprovalOptions,
  session: Session,
  { io }: CommandContext,
): Promise<string[]> {
  if (!filename) return [];
  const manifests = await readManifests(filename, recursive, io);
  return Promise.all(
    manifests.map(async (manifest) => {
      const { object, type } = await place(manifest, session);
      const name = object.metadata?.name;
      if (type.plural === plural && name) return name;
      throw new CliError(`${manifest.source}: want named objects of ${plural} only`);
    }),
  );
}
