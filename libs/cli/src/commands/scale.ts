/** `orchctl scale --replicas N`: sets the replica count through the scale subresource. */

import type { Scale } from '@orch/types/autoscaling/v1';
import { CliError, UsageError } from '../command-line/errors.js';
import { Failures } from '../command-line/failures.js';
import { count } from '../command-line/option-values.js';
import { titleOf } from '../resources/manifest-target.js';
import { itemsOf, namespaceFor } from '../resources/requests.js';
import { selectionsOf } from '../resources/selection.js';
import type { Configure } from '../session/command-context.js';

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
    .option('--replicas <count>', 'desired number of replicas')
    .option('--current-replicas <count>', 'scale only if this is the current number of replicas')
    .option(
      '--resource-version <version>',
      'scale only if this is the resource version of the object',
    )
    .option('-l, --selector <query>', 'labels to select by')
    .option('--all', 'every resource of the type in the namespace')
    .action(async (args: string[], options: ScaleOptions) => {
      if (options.replicas === undefined) throw new UsageError('--replicas=COUNT is missing');
      const replicas = count('--replicas', options.replicas);
      const expected =
        options.currentReplicas === undefined
          ? undefined
          : count('--current-replicas', options.currentReplicas);
      const session = await context.session();
      const failures = new Failures(context.io);
      for (const { type, names } of await selectionsOf(args, session.catalog)) {
        const client = session.client.resource(type, namespaceFor(type, session));
        if (names.length === 0 && !options.selector && !options.all) {
          throw new UsageError('no resources to scale: give names, -l or --all');
        }
        const list = { labelSelector: options.selector };
        const selected =
          names.length > 0
            ? names
            : itemsOf(await client.listAll(list), type).map(({ metadata }) => metadata?.name ?? '');
        for (const name of selected) {
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
            // Without a condition, a concurrent change by another client is no conflict.
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
