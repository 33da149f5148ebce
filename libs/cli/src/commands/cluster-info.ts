/** `orchctl cluster-info`. */
import { dialect } from '@orch/component';
import type { Configure } from '../session/command-context.js';

export const configureClusterInfo: Configure = (command, context) => {
  command.action(async () => {
    const { client, server } = await context.session();
    const readiness = await client.request('GET', '/readyz');
    context.io.out(
      `Control plane: ${server}\nDialect: ${dialect().name}\nReady: ${readiness.body.toString('utf8')}\n`,
    );
  });
};
