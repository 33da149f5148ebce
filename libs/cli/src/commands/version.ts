/** `orchctl version`. */
import { orchVersion } from '@orch/component';
import { UsageError } from '../command-line/errors.js';
import { yamlText } from '../output/object-text.js';
import type { Configure } from '../session/command-context.js';

interface VersionOptions {
  readonly client?: boolean;
  readonly output?: string;
}

interface ServerVersion {
  readonly gitVersion?: string;
  readonly platform?: string;
}

export const configureVersion: Configure = (command, context) => {
  command
    .option('--client', 'only the version of this program, without a request')
    .option('-o, --output <format>', 'json or yaml')
    .action(async (options: VersionOptions) => {
      const { output } = options;
      if (output !== undefined && output !== 'json' && output !== 'yaml') {
        throw new UsageError(`-o: want json or yaml, got ${output}`);
      }
      const clientVersion = {
        version: orchVersion,
        platform: `${process.platform}/${process.arch}`,
      };
      const serverVersion = options.client
        ? undefined
        : (await (await context.session()).client.request('GET', '/version')).json<ServerVersion>();
      const { io } = context;
      if (output === 'json') {
        io.out(`${JSON.stringify({ clientVersion, serverVersion }, null, 2)}\n`);
      } else if (output === 'yaml') {
        io.out(yamlText({ clientVersion, ...(serverVersion && { serverVersion }) }));
      } else {
        io.out(`Client Version: ${orchVersion}\n`);
        if (serverVersion) io.out(`Server Version: ${serverVersion.gitVersion ?? 'unknown'}\n`);
      }
    });
};
