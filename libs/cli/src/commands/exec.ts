/** `orchctl exec POD -- COMMAND`: runs a command in a container and exits with its exit code. */

import { UsageError } from '../command-line/errors.js';
import type { Configure } from '../session/command-context.js';
import { runRemotely } from '../streams/command-client.js';
import { commandQuery, containerFor, podFor, podPath } from '../streams/pod-target.js';
import { localEnds } from '../streams/terminal.js';

interface ExecOptions {
  readonly container?: string;
  readonly stdin?: boolean;
  readonly tty?: boolean;
}

export const configureExec: Configure = (command, context) => {
  command
    .argument('<resource>', 'POD, pod/NAME, deployment/NAME, ...; one pod of a workload is chosen')
    .argument('[command...]', 'command to run, after `--`')
    .option('-c, --container <name>', 'container of the pod; default: the first one')
    .option('-i, --stdin', 'forward standard input')
    .option('-t, --tty', 'allocate a terminal for the command')
    .action(async (resource: string, words: string[], options: ExecOptions) => {
      if (words.length === 0) throw new UsageError('no command to run: give it after `--`');
      const session = await context.session();
      const pod = await podFor(session, resource);
      const container = containerFor(pod, options.container, context.io.err);
      const requested = { stdin: options.stdin ?? false, tty: options.tty ?? false };
      const { ends, release } = localEnds(context.io, requested);
      const streams = { stdin: requested.stdin, tty: ends.tty };
      try {
        const query = commandQuery(container, streams, words);
        await runRemotely(session, podPath(pod, 'exec', query), ends);
      } finally {
        release();
      }
    });
};
