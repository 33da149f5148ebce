/** `orchctl api-resources`: every type in its group's preferred version. */

import { UsageError } from '../command-line/errors.js';
import { TableWriter } from '../output/table.js';
import { apiVersionOf, qualifiedName } from '../session/catalog.js';
import type { Configure } from '../session/command-context.js';

interface ApiResourcesOptions {
  readonly apiGroup?: string;
  readonly namespaced?: string;
  readonly verbs?: string;
  readonly output?: string;
  readonly headers: boolean;
}

export const configureApiResources: Configure = (command, context) => {
  command
    .option('--api-group <group>', 'list only types of this group; empty means the core group')
    .option('--namespaced <boolean>', 'list only namespaced, or only cluster-scoped types')
    .option('--verbs <list>', 'list only types that support all of these verbs')
    .option('-o, --output <format>', 'wide or name')
    .option('--no-headers', 'omit the header line')
    .action(async (options: ApiResourcesOptions) => {
      const { output } = options;
      if (output !== undefined && output !== 'wide' && output !== 'name') {
        throw new UsageError(`-o: want wide or name, got ${output}`);
      }
      const verbs = options.verbs?.split(',') ?? [];
      const { catalog } = await context.session();
      const types = (await catalog.preferred())
        .filter((type) => options.apiGroup === undefined || type.groupName === options.apiGroup)
        .filter(
          (type) =>
            options.namespaced === undefined || String(type.namespaced) === options.namespaced,
        )
        .filter((type) => verbs.every((verb) => type.verbs.includes(verb)));
      if (output === 'name') {
        context.io.out(types.map((type) => `${qualifiedName(type)}\n`).join(''));
        return;
      }
      const wide = output === 'wide';
      const header = ['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND'];
      const rows = types.map((type) => [
        type.plural,
        type.shortNames.join(','),
        apiVersionOf(type),
        String(type.namespaced),
        type.kind,
        ...(wide ? [`[${type.verbs.join(' ')}]`] : []),
      ]);
      const head = options.headers ? [[...header, ...(wide ? ['VERBS'] : [])]] : [];
      context.io.out(new TableWriter().format([...head, ...rows]));
    });
};
