/**
 * The files by which the server authenticates to node agents and verifies them. They are checked
 * for changes, so that a rotation needs no restart: new connections use the current files. A pair
 * that does not match (half of a rotation) is ignored until it does.
 */
import { X509Certificate } from 'node:crypto';
import type { RequestHandlerDependencies } from '@orch/apiserver';
import { CertificatePoll, type Clock, type Logger, requireMatchingPair } from '@orch/component';
import type { ApiServerOptions } from '../options/api-server-options.js';
import { readPem } from '../options/pem-files.js';

type NodeAgents = RequestHandlerDependencies['nodeAgents'];
type Files = Omit<NodeAgents, 'addressTypes'>;

/** Period of the checks. Higher: rotated files are used later. Lower: more file reads. */
const pollMs = 10_000;

export class NodeAgentCredentials implements NodeAgents {
  private files: Files;
  private readonly poll: CertificatePoll;

  /** Throws FatalError if a file is missing. */
  constructor(
    private readonly options: ApiServerOptions,
    clock: Clock,
    private readonly logger: Pick<Logger, 'info' | 'warn'>,
  ) {
    this.files = this.read();
    this.poll = new CertificatePoll({
      clock,
      periodMs: pollMs,
      reload: async () => this.reload(),
      onError: (reason) => logger.warn({ reason }, 'changed node agent files cannot be used'),
    });
  }

  get certificatePem(): string | undefined {
    return this.files.certificatePem;
  }

  get keyPem(): string | undefined {
    return this.files.keyPem;
  }

  get authorityPem(): string | undefined {
    return this.files.authorityPem;
  }

  get addressTypes(): readonly string[] {
    return this.options.nodeAgentAddressTypes;
  }

  start(): void {
    this.poll.start();
  }

  stop(): void {
    this.poll.stop();
  }

  /** Checks the files once. Never rejects. */
  check(): Promise<void> {
    return this.poll.poll();
  }

  private reload(): void {
    const next = this.read();
    const before = this.files;
    const isSame =
      next.certificatePem === before.certificatePem &&
      next.keyPem === before.keyPem &&
      next.authorityPem === before.authorityPem;
    if (isSame) return;
    const { certificatePem, keyPem, authorityPem } = next;
    if (certificatePem !== undefined && keyPem !== undefined) {
      const { nodeAgentCertificate: certificateFile, nodeAgentKey: keyFile } = this.options;
      requireMatchingPair({ certificatePem, keyPem }, { certificateFile, keyFile });
    }
    // Throws if the file contains no certificate.
    if (authorityPem !== undefined) new X509Certificate(authorityPem);
    this.files = next;
    this.logger.info({}, 'node agent credentials replaced');
  }

  private read(): Files {
    const { nodeAgentCertificate, nodeAgentKey, nodeAgentAuthority } = this.options;
    return {
      certificatePem: readPem(nodeAgentCertificate),
      keyPem: readPem(nodeAgentKey),
      authorityPem: readPem(nodeAgentAuthority),
    };
  }
}
