/** `orchctl attach POD`: attaches to a running container. */

import { CliError } from '../command-line/errors.js';
import type { Configure } from '../session/command-context.js';
import { runRemotely } from '../streams/command-client.js';
import { commandQuery, containerFor, podFor, podPath } from '../streams/pod-target.js';
import { localEnds } from '../streams/terminal.js';

interface AttachOptions {
  readonly container?: string;
  readonly stdin?: boolean;
  readonly tty?: boolean;
}

export const configureAttach: Configure = (command, context) => {
  command
    .argument('<resource>', 'POD, pod/NAME, deployment/NAME, ...; one pod of a workload is chosen')
    .option('-c, --container <name>', 'container of the pod; default: the first one')
    .option('-i, --stdin', 'forward standard input')
    .option('-t, --tty', 'connect the terminal of the container')
    .action(async (resource: string, options: AttachOptions) => {
      const session = await context.session();
      const pod = await podFor(session, resource);
      const name = containerFor(pod, options.container, context.io.err);
      const container = pod.spec?.containers?.find((candidate) => candidate.name === name);
      if (options.stdin && !container?.stdin) {
        throw new CliError(`container ${name} reads no input: its stdin is false`);
      }
      const requested = { stdin: options.stdin ?? false, tty: options.tty ?? false };
      const { ends, release } = localEnds(context.io, requested);
      try {
        const query = commandQuery(name, { stdin: requested.stdin, tty: ends.tty });
        await runRemotely(session, podPath(pod, 'attach', query), ends);
      } finally {
        release();
      }
    });
};
