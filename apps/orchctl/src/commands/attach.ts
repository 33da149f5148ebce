/** `orchctl attach POD`: joins a running container. */
import type { Configure } from '../lib/context.js';
import { CliError } from '../lib/errors.js';
import { runRemotely } from '../lib/streams/command-client.js';
import { commandQuery, containerFor, podFor, podPath } from '../lib/streams/pod-target.js';
import { localEnds } from '../lib/streams/terminal.js';

interface AttachOptions {
  readonly container?: string;
  readonly stdin?: boolean;
  readonly tty?: boolean;
}

export const configureAttach: Configure = (command, context) => {
  command
    .argument('<resource>', 'POD, pod/NAME, deployment/NAME, ...: of a workload one pod is taken')
    .option('-c, --container <name>', 'container of the pod; its first one when left out')
    .option('-i, --stdin', 'hand standard input on')
    .option('-t, --tty', 'the container has a terminal')
    .action(async (resource: string, options: AttachOptions) => {
      const session = await context.session();
      const pod = await podFor(session, resource);
      const name = containerFor(pod, options.container, context.io.err);
      const container = pod.spec?.containers?.find((one) => one.name === name);
      if (options.stdin && !container?.stdin) {
        throw new CliError(`container ${name} reads no input: its stdin is not set`);
      }
      const wanted = { stdin: options.stdin ?? false, tty: options.tty ?? false };
      const { ends, release } = localEnds(context.io, wanted);
      try {
        const query = commandQuery(name, { stdin: wanted.stdin, tty: ends.tty });
        await runRemotely(session, podPath(pod, 'attach', query), ends);
      } finally {
        release();
      }
    });
};
