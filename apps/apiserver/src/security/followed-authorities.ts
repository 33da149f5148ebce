/**
 * Reads the files of client authorities again when they change, so that an authority is added or
 * removed without a restart. A file that cannot be used is reported and changes nothing.
 */
import { readFile } from 'node:fs/promises';
import { CertificatePoll, type Clock, type Logger } from '@orch/component';
import { authoritiesPollMs, type CertificateAuthorities } from '@orch/security';
import type { AuthenticationFiles } from '../context/authentication-files.js';
import type { AuthenticationOptions } from '../options/authentication-options.js';

interface AuthorityFile {
  readonly path: string;
  readonly authorities: CertificateAuthorities;
}

export interface FollowedAuthoritiesDependencies {
  readonly files: readonly AuthorityFile[];
  readonly onReplaced: () => void;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** The files of the flags and the authorities that were read from them. */
export function authorityFiles(
  { clientCaFile, proxy }: AuthenticationOptions,
  { clientAuthorities, requestHeaders }: AuthenticationFiles,
): AuthorityFile[] {
  return [
    ...(clientAuthorities ? [{ path: clientCaFile, authorities: clientAuthorities }] : []),
    ...(requestHeaders
      ? [{ path: proxy.clientCaFile, authorities: requestHeaders.authorities }]
      : []),
  ];
}

export class FollowedAuthorities {
  private readonly poller: CertificatePoll;

  constructor(private readonly dependencies: FollowedAuthoritiesDependencies) {
    const { clock, logger } = dependencies;
    this.poller = new CertificatePoll({
      clock,
      periodMs: authoritiesPollMs,
      reload: () => this.reload(),
      onError: (reason) => logger.warn({ reason }, 'the changed client authorities cannot be used'),
    });
  }

  /** Has no effect without files. */
  start(): void {
    if (this.dependencies.files.length > 0) this.poller.start();
  }

  stop(): void {
    this.poller.stop();
  }

  /** Reads the files once. Never rejects. */
  poll(): Promise<void> {
    return this.poller.poll();
  }

  private async reload(): Promise<void> {
    const { files, onReplaced, logger } = this.dependencies;
    for (const { path, authorities } of files) {
      if (!authorities.replace(await readFile(path, 'utf8'), path)) continue;
      onReplaced();
      logger.info({ path }, 'client authorities replaced');
    }
  }
}
