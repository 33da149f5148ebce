/** Selectors, tolerations and resources as the documentation defines them, without any index. */
import type {
  Container,
  Node,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  Pod,
  PodAffinityTerm,
  Taint,
} from '@orch/types/core/v1';
import type { LabelSelector } from '@orch/types/meta/v1';
import type { World } from './world.js';

export type Labels = Readonly<Record<string, string>>;

export const labelsOf = (object: Node | Pod): Labels => object.metadata?.labels ?? {};
export const namespaceOf = (pod: Pod): string => pod.metadata?.namespace ?? '';

export function selectsLabels(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (!selector) return false;
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    if (labels[key] !== value) return false;
  }
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    if (!holds(operator ?? '', labels[key ?? ''], values)) return false;
  }
  return true;
}

function holds(operator: string, value: string | undefined, values: readonly string[]): boolean {
  if (operator === 'Exists') return value !== undefined;
  if (operator === 'DoesNotExist') return value === undefined;
  if (operator === 'In') return value !== undefined && values.includes(value);
  if (operator === 'NotIn') return value === undefined || !values.includes(value);
  if (value === undefined || values.length !== 1) return false;
  return operator === 'Gt' ? Number(value) > Number(values[0]) : Number(value) < Number(values[0]);
}

export function termMatches({ matchExpressions = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length === 0) return false;
  return matchExpressions.every((requirement: NodeSelectorRequirement) =>
    holds(
      requirement.operator ?? '',
      labelsOf(node)[requirement.key ?? ''],
      requirement.values ?? [],
    ),
  );
}

/** Node selector and required node affinity. */
export function admitsNode(pod: Pod, node: Node): boolean {
  for (const [key, value] of Object.entries(pod.spec?.nodeSelector ?? {})) {
    if (labelsOf(node)[key] !== value) return false;
  }
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || (required.nodeSelectorTerms ?? []).some((term) => termMatches(term, node));
}

export function tolerated(pod: Pod, { key, value, effect }: Taint, onlyEffect?: string): boolean {
  return (pod.spec?.tolerations ?? []).some((toleration) => {
    if (onlyEffect && toleration.effect && toleration.effect !== onlyEffect) return false;
    if (toleration.effect && toleration.effect !== effect) return false;
    if (toleration.key && toleration.key !== key) return false;
    return toleration.operator === 'Exists' || (toleration.value ?? '') === (value ?? '');
  });
}

/** Whether a term of `owner` selects `other`. */
export function termSelects(world: World, term: PodAffinityTerm, owner: Pod, other: Pod): boolean {
  const { namespaces = [], namespaceSelector, labelSelector } = term;
  const isOwn = namespaces.length === 0 && !namespaceSelector;
  const named = world.namespaces.find(({ metadata }) => metadata?.name === namespaceOf(other));
  const isInNamespace =
    (isOwn && namespaceOf(owner) === namespaceOf(other)) ||
    namespaces.includes(namespaceOf(other)) ||
    (namespaceSelector && selectsLabels(namespaceSelector, named?.metadata?.labels ?? {}));
  return Boolean(isInNamespace) && selectsLabels(labelSelector, labelsOf(other));
}

/** The host ports of a pod as protocol, port and address. */
export function hostPorts(pod: Pod): { protocol: string; port: number; ip: string }[] {
  return (pod.spec?.containers ?? []).flatMap(({ ports = [] }) =>
    ports
      .filter(({ hostPort }) => hostPort)
      .map(({ hostPort, hostIP, protocol }) => ({
        protocol: protocol ?? 'TCP',
        port: hostPort ?? 0,
        ip: hostIP ?? '0.0.0.0',
      })),
  );
}

export const resourceNames = ['cpu', 'memory', 'ephemeral-storage', 'example.com/gpu'] as const;
export type ResourceName = (typeof resourceNames)[number];

const factors: Readonly<Record<string, number>> = { m: 1, Mi: 2 ** 20, Gi: 2 ** 30 };

/** CPU in thousandths, others in units. The worlds write CPU with the suffix `m` only. */
export function amountOf(text: string | undefined): number {
  const [, digits, suffix] = /^(\d+)(m|Mi|Gi)?$/.exec(text ?? '0') ?? [];
  if (digits === undefined) throw new RangeError(`not a quantity of these worlds: ${text}`);
  return Number(digits) * (suffix ? factors[suffix]! : 1);
}

/** The request of a pod; `absent` replaces a missing request of a container. */
export function requestOf(pod: Pod, name: ResourceName, absent = 0): number {
  const of = ({ resources }: Container) => {
    const text = resources?.requests?.[name];
    return text === undefined ? absent : amountOf(text);
  };
  const { containers = [], initContainers = [], overhead } = pod.spec ?? {};
  const together = containers.map(of).reduce((sum, amount) => sum + amount, 0);
  return Math.max(together, ...initContainers.map(of)) + amountOf(overhead?.[name]);
}
