/** The labels in the domain of the project that an agent may set on its node. */
import { dialect } from '@orch/component';

type Labels = Readonly<Record<string, string>> | undefined;

const allowedNames: Readonly<Record<string, readonly string[]>> = {
  '': ['hostname', 'os', 'arch'],
  'failure-domain.beta': ['zone', 'region'],
  topology: ['zone', 'region'],
  beta: ['instance-type', 'os', 'arch'],
};
/** Heads of the domains in which every label is allowed. */
const allowedHeads = ['kubelet', 'node'];

/** Sorted names of labels that differ and that an agent must not change. */
export function forbiddenLabels(now: Labels, old: Labels): string[] {
  const names = new Set([...Object.keys(now ?? {}), ...Object.keys(old ?? {})]);
  return [...names].filter((name) => now?.[name] !== old?.[name] && !isAllowed(name)).sort();
}

function isAllowed(label: string): boolean {
  const slash = label.indexOf('/');
  const namespace = slash < 0 ? '' : label.slice(0, slash);
  const { keyDomain, groupDomain } = dialect();
  if (isIn(namespace, `node-restriction.${keyDomain}`)) return false;
  if (!isIn(namespace, keyDomain) && !isIn(namespace, groupDomain)) return true;
  if (allowedHeads.some((head) => isIn(namespace, `${head}.${keyDomain}`))) return true;
  return Object.entries(allowedNames).some(
    ([head, names]) =>
      namespace === (head === '' ? keyDomain : `${head}.${keyDomain}`) &&
      names.includes(label.slice(slash + 1)),
  );
}

function isIn(namespace: string, domain: string): boolean {
  return namespace === domain || namespace.endsWith(`.${domain}`);
}
