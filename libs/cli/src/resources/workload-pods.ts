/** The pods that the selector of a workload matches. */
import { type ApiObject, resources } from '@orch/client';
import type { Pod } from '@orch/types/core/v1';
import type { LabelSelector } from '@orch/types/meta/v1';
import { CliError } from '../command-line/errors.js';
import { type ResourceType, singularTypeName } from '../session/catalog.js';
import type { Session } from '../session/session.js';

interface Selecting extends ApiObject {
  readonly spec?: { readonly selector?: LabelSelector | Record<string, string> };
}

export async function podsOf(session: Session, type: ResourceType, name: string): Promise<Pod[]> {
  const workload: Selecting = await session.client
    .resource(type, type.namespaced ? session.namespace : undefined)
    .get(name);
  const labelSelector = selectorText(workload.spec?.selector);
  if (!labelSelector) throw new CliError(`${singularTypeName(type)}/${name} selects no pods`);
  const list = await session.client
    .resource(resources.pods, session.namespace)
    .listAll({ labelSelector });
  return list.items;
}

const operators: Readonly<Record<string, (key: string, values: string) => string>> = {
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
};

/** The query text of a label selector of either form. Empty without a selector. */
export function selectorText(
  selector: LabelSelector | Readonly<Record<string, string>> | undefined,
): string {
  if (!selector) return '';
  const isStructured = 'matchLabels' in selector || 'matchExpressions' in selector;
  const { matchLabels = {}, matchExpressions = [] } = isStructured
    ? (selector as LabelSelector)
    : { matchLabels: selector as Record<string, string> };
  return [
    ...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`),
    ...matchExpressions.map(
      ({ key = '', operator = '', values = [] }) =>
        operators[operator]?.(key, values.join(',')) ?? '',
    ),
  ].join(',');
}
