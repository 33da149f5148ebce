/** Keeps the beta labels of a node equal to the stable ones. Pure. */
import { dialect } from '@orch/component';
import type { Node } from '@orch/types/core/v1';

interface LabelPair {
  readonly stable: string;
  readonly beta: string;
  /** Whether a missing beta label is added. */
  readonly isEnsured: boolean;
}

function labelPairs(): LabelPair[] {
  const key = (name: string, subdomain = '') => dialect().key(name, subdomain);
  return [
    { stable: key('os'), beta: key('os', 'beta'), isEnsured: true },
    { stable: key('arch'), beta: key('arch', 'beta'), isEnsured: true },
    ...['zone', 'region'].map((name) => ({
      stable: key(name, 'topology'),
      beta: key(name, 'failure-domain.beta'),
      isEnsured: false,
    })),
  ];
}

/** Returns the labels to set; undefined if all are correct. */
export function missingLabels(node: Node): Record<string, string> | undefined {
  const labels = node.metadata?.labels ?? {};
  const missing: Record<string, string> = {};
  for (const { stable, beta, isEnsured } of labelPairs()) {
    const value = labels[stable];
    if (value === undefined || labels[beta] === value) continue;
    if (isEnsured || labels[beta] !== undefined) missing[beta] = value;
  }
  return Object.keys(missing).length > 0 ? missing : undefined;
}
