/** `orchctl exec POD -- COMMAND`: runs a command in a container; its exit code becomes ours. */
import type { Configure } from '../lib/context.js';
import { UsageError } from '../lib/errors.js';
import { runRemotely } from '../lib/streams/command-client.js';
import { commandQuery, containerFor, podFor, podPath } from '../lib/streams/pod-target.js';
import { localEnds } from '../lib/streams/terminal.js';

interface ExecOptions {
  readonly container?: string;
  readonly stdin?: boolean;
  readonly tty?: boolean;
}

export const configureExec: Configure = (command, context) => {
  command
    .argument('<resource>', 'POD, pod/NAME, deployment/NAME, ...: of a workload one pod is taken')
    .argument('[command...]', 'what to run, after `--`')
    .option('-c, --container <name>', 'container of the pod; its first one when left out')
    .option('-i, --stdin', 'hand standard input on')
    .option('-t, --tty', 'give the command a terminal')
    .action(async (resource: string, words: string[], options: ExecOptions) => {
      if (words.length === 0) throw new UsageError('say what to run, after `--`');
      const session = await context.session();
      const pod = await podFor(session, resource);
      const container = containerFor(pod, options.container, context.io.err);
      const wanted = { stdin: options.stdin ?? false, tty: options.tty ?? false };
      const { ends, release } = localEnds(context.io, wanted);
      const streams = { stdin: wanted.stdin, tty: ends.tty };
      try {
        const query = commandQuery(container, streams, words);
        await runRemotely(session, podPath(pod, 'exec', query), ends);
      } finally {
        release();
      }
    });
};
