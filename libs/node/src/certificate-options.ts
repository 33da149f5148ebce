/** The flags of the certificates of a node. */
import { Flag, ValueError } from '@orch/component';
import { IsOptional } from 'class-validator';

export class CertificateOptions {
  @Flag({
    name: 'bootstrap-kubeconfig',
    description:
      'kubeconfig with which the node joins, if that of --kubeconfig is missing or its certificate has expired: the node requests a client certificate and writes --kubeconfig',
    type: 'string',
  })
  @IsOptional()
  bootstrapKubeconfig?: string;

  @Flag({
    name: 'cert-dir',
    description: 'directory of the certificates that the node requests; default: pki in --root-dir',
    type: 'string',
  })
  @IsOptional()
  certDirectory?: string;

  @Flag({
    name: 'rotate-certificates',
    description: 'renew the client certificate by request before it expires',
    default: false,
  })
  rotateCertificates!: boolean;

  @Flag({
    name: 'rotate-server-certificates',
    description:
      'request the serving certificate, and renew it before it expires; an administrator must approve each request. Until then the server presents that of --tls-cert-file or a self-signed one',
    default: false,
  })
  rotateServerCertificates!: boolean;

  checkRelations(): void {
    if (this.bootstrapKubeconfig === '') {
      throw new ValueError('--bootstrap-kubeconfig is empty: set the path of a kubeconfig');
    }
  }
}
