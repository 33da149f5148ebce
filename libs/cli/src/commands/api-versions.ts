/** `orchctl api-versions`. */
import type { Configure } from '../session/command-context.js';

export const configureApiVersions: Configure = (command, context) => {
  command.action(async () => {
    const { catalog } = await context.session();
    context.io.out(`${catalog.groupVersions().sort().join('\n')}\n`);
  });
};
