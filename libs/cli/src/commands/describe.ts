/** `orchctl describe`: prints the details of resources and the events about them. */

import { type ApiObject, isNotFound } from '@orch/client';
import { booleanOption } from '../command-line/boolean-option.js';
import { errorLine, PartialFailure } from '../command-line/errors.js';
import { describeAny } from '../describe/any.js';
import type { Description } from '../describe/description.js';
import { describeEvents } from '../describe/events.js';
import {
  describeDeployment,
  describeNode,
  describePod,
  describeReplicaSet,
  describeSecret,
  describeService,
} from '../describe/kinds.js';
import { addSelectorFlags, readObjects, type SelectorOptions } from '../resources/requests.js';
import { type Selection, selectionsOf } from '../resources/selection.js';
import { apiVersionOf, type ResourceType } from '../session/catalog.js';
import type { Configure } from '../session/command-context.js';
import type { Session } from '../session/session.js';

interface DescribeOptions extends SelectorOptions {
  readonly showEvents: boolean;
}

export const configureDescribe: Configure = (command, context) => {
  addSelectorFlags(
    command.argument(
      '<resources...>',
      'TYPE, TYPE NAME... (a prefix of a name matches), TYPE/NAME...',
    ),
  )
    .option(
      '--show-events [boolean]',
      'include the events about each resource',
      booleanOption('--show-events'),
      true,
    )
    .action(async (args: string[], options: DescribeOptions) => {
      const session = await context.session();
      const texts: string[] = [];
      let failed = false;
      for (const selection of await selectionsOf(args, session.catalog)) {
        try {
          for (const object of await objectsOf(selection, options, session)) {
            const description = await describe(object, selection.type, session);
            if (options.showEvents) await describeEvents(description, object, session);
            texts.push(description.text());
          }
        } catch (error) {
          if (!isNotFound(error)) throw error;
          failed = true;
          context.io.err(errorLine(error));
        }
      }
      if (texts.length > 0) context.io.out(texts.join('\n\n'));
      else if (!failed) context.io.err('No resources found.\n');
      if (failed) throw new PartialFailure();
    });
};

async function objectsOf(
  { type, names }: Selection,
  options: DescribeOptions,
  session: Session,
): Promise<ApiObject[]> {
  const typeMeta = { apiVersion: apiVersionOf(type), kind: type.kind };
  if (names.length === 0) return readObjects(session, type, [], options);
  const objects: ApiObject[] = [];
  for (const name of names) {
    try {
      objects.push(...(await readObjects(session, type, [name], options)));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const all = await readObjects(session, type, [], {});
      const byStart = all.filter(({ metadata }) => metadata?.name?.startsWith(name));
      if (byStart.length === 0) throw error;
      objects.push(...byStart);
    }
  }
  return objects.map((object) => ({ ...typeMeta, ...object }));
}

/** The description of an object, whose type is the requested one. */
function describe(
  object: ApiObject,
  { kind, groupName }: ResourceType,
  session: Session,
): Description | Promise<Description> {
  if (groupName === '' && kind === 'Pod') return describePod(object);
  if (groupName === '' && kind === 'Node') return describeNode(object, session);
  if (groupName === '' && kind === 'Service') return describeService(object, session);
  if (groupName === '' && kind === 'Secret') return describeSecret(object);
  if (groupName === 'apps' && kind === 'ReplicaSet') return describeReplicaSet(object);
  if (groupName === 'apps' && kind === 'Deployment') return describeDeployment(object, session);
  return describeAny(object);
}
