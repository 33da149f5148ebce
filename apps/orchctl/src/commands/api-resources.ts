/** `orchctl api-resources`: every type in its group's preferred version. */
import { apiVersionOf, qualifiedName } from '../lib/catalog.js';
import type { Configure } from '../lib/context.js';
import { UsageError } from '../lib/errors.js';
import { TableWriter } from '../lib/table.js';

interface ApiResourcesOptions {
  readonly apiGroup?: string;
  readonly namespaced?: string;
  readonly verbs?: string;
  readonly output?: string;
  readonly headers: boolean;
}

export const configureApiResources: Configure = (command, context) => {
  command
    .option('--api-group <group>', 'only this group; empty is the core group')
    .option('--namespaced <boolean>', 'only those with, or without, a namespace')
    .option('--verbs <list>', 'only those that know all of these verbs')
    .option('-o, --output <format>', 'wide or name')
    .option('--no-headers', 'leave the line of column names out')
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
