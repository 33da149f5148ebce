/** Flags of where the objects are kept: by the replicas themselves, or in an etcd that runs already. */
import { readFileSync } from 'node:fs';
import {
  exitCodes,
  FatalError,
  Flag,
  type Lifecycle,
  type Logger,
  systemClock,
  ValueError,
} from '@orch/component';
import { openEtcdStore, StoreError, type StoreObserver, type VersionedStore } from '@orch/store';
import { IsIn, Matches } from 'class-validator';

export const storageBackends = ['raft', 'etcd3'] as const;
export type StorageBackend = (typeof storageBackends)[number];

export class EtcdOptions {
  @Flag({
    name: 'storage-backend',
    description:
      'where objects are kept: raft, in this server and its replicas; etcd3, in the etcd of --etcd-servers',
    default: 'raft',
    type: 'string',
  })
  @IsIn(storageBackends)
  storageBackend!: StorageBackend;

  @Flag({
    name: 'etcd-servers',
    description:
      'client URLs of the members of one etcd, as https://host:port,...; with one of them left out it is not turned to when others fail',
    type: 'list',
  })
  etcdServers: string[] = [];

  @Flag({
    name: 'etcd-cafile',
    description: 'PEM authorities of the certificates of etcd; those of the system when left out',
    default: '',
  })
  etcdCaFile!: string;

  @Flag({
    name: 'etcd-certfile',
    description: 'PEM certificate to show to etcd; read at start only',
    default: '',
  })
  etcdCertFile!: string;

  @Flag({ name: 'etcd-keyfile', description: 'PEM key of --etcd-certfile', default: '' })
  etcdKeyFile!: string;

  @Flag({
    name: 'etcd-prefix',
    description:
      'what all keys in etcd begin with; each cluster on one etcd needs its own, changing it shows another cluster',
    default: '/registry',
  })
  @Matches(/^(\/[^/\s]+)+$/, {
    message: 'must begin with a slash and must not end in one, as /registry',
  })
  etcdPrefix!: string;

  get usesEtcd(): boolean {
    return this.storageBackend === 'etcd3';
  }

  checkRelations(): void {
    if (!this.usesEtcd) {
      const files = [this.etcdCaFile, this.etcdCertFile, this.etcdKeyFile];
      if (this.etcdServers.length > 0 || files.some((file) => file !== '')) {
        throw new ValueError('--etcd-servers and its files are only for --storage-backend=etcd3');
      }
      return;
    }
    if (this.etcdServers.length === 0) {
      throw new ValueError('--etcd-servers: --storage-backend=etcd3 needs at least one');
    }
    if ((this.etcdCertFile === '') !== (this.etcdKeyFile === '')) {
      throw new ValueError('--etcd-certfile and --etcd-keyfile: give both or neither');
    }
  }
}

export interface EtcdStoreContext {
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly observer?: StoreObserver;
  readonly historyRetentionMs: number;
  readonly compactionIntervalMs: number;
}

/**
 * The store over the etcd of the flags, open; it is stopped with the process. Throws FatalError for
 * options and files that cannot be used and when no server answers.
 */
export async function openStoreOnEtcd(
  options: EtcdOptions,
  context: EtcdStoreContext,
): Promise<VersionedStore> {
  const { logger, lifecycle, observer, historyRetentionMs, compactionIntervalMs } = context;
  const { etcdServers: endpoints, etcdPrefix: prefix } = options;
  const [authorityPem, certificatePem, keyPem] = [
    options.etcdCaFile,
    options.etcdCertFile,
    options.etcdKeyFile,
  ].map(readPemFile);
  const tls = {
    ...(authorityPem && { authorityPem }),
    ...(certificatePem && { certificatePem }),
    ...(keyPem && { keyPem }),
  };
  try {
    const store = await openEtcdStore(
      { endpoints, prefix, tls, historyRetentionMs, compactionIntervalMs },
      {
        clock: systemClock,
        logger,
        random: Math.random,
        onFatal: (error) => lifecycle.fail(storageFailure(error)),
        ...(observer && { observer }),
      },
    );
    lifecycle.onStop('store', () => store.stop());
    return store;
  } catch (error) {
    if (error instanceof StoreError) throw storageFailure(error);
    if (error instanceof RangeError) throw new FatalError(exitCodes.usage, error.message);
    throw error;
  }
}

function storageFailure(error: Error): FatalError {
  return new FatalError(exitCodes.storageFailed, error.message, { cause: error });
}

function readPemFile(path: string): Buffer | undefined {
  if (path === '') return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new FatalError(exitCodes.failed, `cannot read ${path}: ${cause}`, { cause: error });
  }
}
