/** The signers that the controller manager implements, and the requests that each accepts. */
import { dialect, type RequestedNames } from '@orch/component';
import type { SignerKind } from '../common/signing-options.js';
import { nodeClientProblem, nodeServingProblem } from './node-request-plan.js';

export interface Signer {
  readonly kind: SignerKind;
  /** The name in requests. */
  readonly signerName: string;
  /** Why the signer rejects a request; undefined if it signs it. */
  readonly problem: (names: RequestedNames, usages: readonly string[]) => string | undefined;
}

export function nodeClientSigner(): string {
  return dialect().key(dialect().systemName('apiserver-client-kubelet'));
}

export function builtInSigners(): Signer[] {
  return [
    {
      kind: 'kubelet-serving',
      signerName: dialect().key('kubelet-serving'),
      problem: nodeServingProblem,
    },
    { kind: 'kubelet-client', signerName: nodeClientSigner(), problem: nodeClientProblem },
    {
      kind: 'apiserver-client',
      signerName: dialect().key(dialect().systemName('apiserver-client')),
      problem: (_names, usages) => clientUsageProblem(usages),
    },
    {
      kind: 'legacy-unknown',
      signerName: dialect().key('legacy-unknown'),
      problem: () => undefined,
    },
  ];
}

const optionalUsages: readonly string[] = ['digital signature', 'key encipherment'];

function clientUsageProblem(usages: readonly string[]): string | undefined {
  const wrong = usages.find((usage) => usage !== 'client auth' && !optionalUsages.includes(usage));
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`;
  if (usages.includes('client auth')) return undefined;
  return 'missing required usage for client certificate: client auth';
}
