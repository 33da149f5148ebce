/** `orchctl scale --replicas N`: through the scale subresource. */
import type { Scale } from '@orch/types/autoscaling/v1';
import { selectionsOf } from '../lib/arguments.js';
import type { Configure } from '../lib/context.js';
import { CliError, UsageError } from '../lib/errors.js';
import { Failures } from '../lib/failures.js';
import { titleOf } from '../lib/placing.js';
import { itemsOf, namespaceFor } from '../lib/requests.js';

interface ScaleOptions {
  readonly replicas?: string;
  readonly currentReplicas?: string;
  readonly resourceVersion?: string;
  readonly selector?: string;
  readonly all?: boolean;
}

export const configureScale: Configure = (command, context) => {
  command
    .argument('<resources...>', 'TYPE NAME..., TYPE/NAME..., or TYPE with -l or --all')
    .option('--replicas <count>', 'how many there shall be')
    .option('--current-replicas <count>', 'only if there are so many now')
    .option('--resource-version <version>', 'only if the object is still at this version')
    .option('-l, --selector <query>', 'labels to select by')
    .option('--all', 'every resource of the type in the namespace')
    .action(async (args: string[], options: ScaleOptions) => {
      if (options.replicas === undefined)
        throw new UsageError('say how many with --replicas=COUNT');
      const replicas = countOf('--replicas', options.replicas);
      const expected =
        options.currentReplicas === undefined
          ? undefined
          : countOf('--current-replicas', options.currentReplicas);
      const session = await context.session();
      const failures = new Failures(context.io);
      for (const { type, names } of await selectionsOf(args, session.catalog)) {
        const client = session.client.resource(type, namespaceFor(type, session));
        if (names.length === 0 && !options.selector && !options.all) {
          throw new UsageError('name what to scale, or select it with -l or --all');
        }
        const list = { labelSelector: options.selector };
        const wanted =
          names.length > 0
            ? names
            : itemsOf(await client.listAll(list), type).map(({ metadata }) => metadata?.name ?? '');
        for (const name of wanted) {
          const title = titleOf(type, { metadata: { name } });
          await failures.showing(async () => {
            const subresource = client.subresource<Scale>(name, 'scale');
            const scale = await subresource.get();
            const { resourceVersion } = scale.metadata ?? {};
            if (expected !== undefined && (scale.spec?.replicas ?? 0) !== expected) {
              throw new CliError(
                `${title}: expected ${expected} replicas, has ${scale.spec?.replicas ?? 0}`,
              );
            }
            if (options.resourceVersion && resourceVersion !== options.resourceVersion) {
              throw new CliError(
                `${title}: expected version ${options.resourceVersion}, is ${resourceVersion}`,
              );
            }
            // Without a condition a change by somebody else in between does not matter.
            const isConditional = expected !== undefined || options.resourceVersion !== undefined;
            await (isConditional
              ? subresource.replace({ ...scale, spec: { replicas } })
              : subresource.patch({ spec: { replicas } }, { type: 'merge' }));
            context.io.out(`${title} scaled\n`);
          });
        }
      }
      failures.end();
    });
};

function countOf(flag: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0) {
    throw new UsageError(`${flag}: want a whole number from 0 up, got ${text}`);
  }
  return count;
}
