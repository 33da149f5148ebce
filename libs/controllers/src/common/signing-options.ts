/** Flags of the signers of certificate signing requests. */
import { dialect, Flag, ValueError } from '@orch/component';
import { Min } from 'class-validator';

const purposes = {
  'kubelet-serving': 'serving certificates of node agents',
  'kubelet-client': 'client certificates of node agents',
  'apiserver-client': 'client certificates of the API server',
  'legacy-unknown': 'requests of the signer legacy-unknown',
} as const;

export type SignerKind = keyof typeof purposes;

/** The part of a flag's name that selects the signer. */
function flagName(kind: SignerKind): string {
  return kind === 'apiserver-client' ? dialect().systemName(kind) : kind;
}

const certificateFlag = (kind: SignerKind) =>
  Flag({
    name: () => `cluster-signing-${flagName(kind)}-cert-file`,
    description: `PEM certificate of the authority for ${purposes[kind]}; excludes --cluster-signing-cert-file`,
    default: '',
    type: 'string',
  });

const keyFlag = (kind: SignerKind) =>
  Flag({
    name: () => `cluster-signing-${flagName(kind)}-key-file`,
    description: `PEM key of --cluster-signing-${kind === 'apiserver-client' ? '...-' : ''}${kind}-cert-file`,
    default: '',
    type: 'string',
  });

export class SigningOptions {
  @Flag({
    name: 'cluster-signing-cert-file',
    description:
      'PEM certificate of the authority that signs approved certificate requests of all built-in signers; requests are not signed without it',
    default: '',
  })
  certificateFile!: string;

  @Flag({
    name: 'cluster-signing-key-file',
    description: 'PEM key of --cluster-signing-cert-file',
    default: '',
  })
  keyFile!: string;

  @certificateFlag('kubelet-serving')
  servingCertificateFile!: string;

  @keyFlag('kubelet-serving')
  servingKeyFile!: string;

  @certificateFlag('kubelet-client')
  nodeCertificateFile!: string;

  @keyFlag('kubelet-client')
  nodeKeyFile!: string;

  @certificateFlag('apiserver-client')
  clientCertificateFile!: string;

  @keyFlag('apiserver-client')
  clientKeyFile!: string;

  @certificateFlag('legacy-unknown')
  legacyCertificateFile!: string;

  @keyFlag('legacy-unknown')
  legacyKeyFile!: string;

  @Flag({
    name: 'cluster-signing-duration',
    description:
      'validity of signed certificates, unless the authority ends sooner. Higher: a stolen key works longer. Lower: more renewals.',
    default: '8760h0m0s',
    type: 'duration',
  })
  @Min(1_000)
  durationMs!: number;

  /** The files of a signer; undefined if it is not configured. */
  filesOf(
    kind: SignerKind,
  ): { readonly certificateFile: string; readonly keyFile: string } | undefined {
    const { certificateFile, keyFile } = this.own(kind);
    if (certificateFile !== '') return { certificateFile, keyFile };
    if (this.certificateFile === '') return undefined;
    return { certificateFile: this.certificateFile, keyFile: this.keyFile };
  }

  checkRelations(): void {
    const kinds = Object.keys(purposes) as SignerKind[];
    const own = kinds.map((kind) => ({ name: flagName(kind), ...this.own(kind) }));
    const pairs = [{ name: '', ...this }, ...own];
    for (const { name, certificateFile, keyFile } of pairs) {
      if ((certificateFile === '') === (keyFile === '')) continue;
      const flag = `--cluster-signing-${name === '' ? '' : `${name}-`}`;
      throw new ValueError(`${flag}cert-file and ${flag}key-file must be set together`);
    }
    if (this.certificateFile !== '' && own.some((pair) => pair.certificateFile !== '')) {
      throw new ValueError(
        'cannot specify --cluster-signing-{cert,key}-file and other --cluster-signing-*-file flags at the same time',
      );
    }
  }

  private own(kind: SignerKind): { certificateFile: string; keyFile: string } {
    switch (kind) {
      case 'kubelet-serving':
        return { certificateFile: this.servingCertificateFile, keyFile: this.servingKeyFile };
      case 'kubelet-client':
        return { certificateFile: this.nodeCertificateFile, keyFile: this.nodeKeyFile };
      case 'apiserver-client':
        return { certificateFile: this.clientCertificateFile, keyFile: this.clientKeyFile };
      case 'legacy-unknown':
        return { certificateFile: this.legacyCertificateFile, keyFile: this.legacyKeyFile };
    }
  }
}
