/** Applies default requests and limits from limit ranges to containers. */
import type { Container, LimitRange, Pod } from '@orch/types/core/v1';

type Amounts = Readonly<Record<string, string>>;

/** If several ranges set a resource, the first one wins. */
function defaultsOf(ranges: readonly LimitRange[], field: 'default' | 'defaultRequest'): Amounts {
  const items = ranges
    .flatMap(({ spec }) => spec?.limits ?? [])
    .filter(({ type }) => type === 'Container');
  return Object.assign({}, ...items.map((item) => item[field]).reverse());
}

/** Sets the defaults of the pod's containers; returns descriptions for the annotation. */
export function fillPod({ spec }: Pod, ranges: readonly LimitRange[]): string[] {
  if (ranges.length === 0) return [];
  const limits = defaultsOf(ranges, 'default');
  const requests = defaultsOf(ranges, 'defaultRequest');
  const fill = (container: Container, kind: string) =>
    (
      [
        ['requests', 'request', requests],
        ['limits', 'limit', limits],
      ] as const
    ).flatMap(([field, word, defaults]) => {
      const names = fillAmounts(container, field, defaults);
      return names.length === 0
        ? []
        : [`${names.join(', ')} ${word} for ${kind} ${container.name}`];
    });
  return [
    ...(spec?.containers ?? []).flatMap((container) => fill(container, 'container')),
    ...(spec?.initContainers ?? []).flatMap((container) => fill(container, 'init container')),
  ];
}

/** Sets missing amounts; returns their names, sorted. */
function fillAmounts(
  container: Container,
  field: 'limits' | 'requests',
  defaults: Amounts,
): string[] {
  const own: Amounts = container.resources?.[field] ?? {};
  const missing = Object.keys(defaults)
    .filter((name) => !Object.hasOwn(own, name))
    .sort();
  if (missing.length > 0) {
    const added = Object.fromEntries(missing.map((name) => [name, defaults[name]!]));
    container.resources = { ...container.resources, [field]: { ...own, ...added } };
  }
  return missing;
}
