/**
 * Flags of the storage backend: the replicas themselves, or an existing etcd.
 */
import { createSecureContext } from 'node:tls';
import {
  exitCodes,
  FatalError,
  Flag,
  type Lifecycle,
  type Logger,
  systemClock,
  ValueError,
} from '@orch/component';
import {
  type EtcdTls,
  openEtcdStore,
  StoreError,
  type StoreObserver,
  type VersionedStore,
} from '@orch/store';
import { IsIn, Matches } from 'class-validator';
import { readPem, usingFilesOf } from './pem-files.js';

export const storageBackends = ['raft', 'etcd3'] as const;
export type StorageBackend = (typeof storageBackends)[number];

export class EtcdOptions {
  @Flag({
    name: 'storage-backend',
    description:
      'where objects are stored: raft, in this server and its replicas; etcd3, in the etcd of --etcd-servers',
    default: 'raft',
    type: 'string',
  })
  @IsIn(storageBackends)
  storageBackend!: StorageBackend;

  @Flag({
    name: 'etcd-servers',
    description:
      'client URLs of the members of one etcd, as https://host:port,...; a member that is not listed does not serve as a fallback',
    type: 'list',
  })
  etcdServers: string[] = [];

  @Flag({
    name: 'etcd-cafile',
    description:
      'PEM authorities of the certificates of etcd; empty: the authorities of the system',
    default: '',
  })
  etcdCaFile!: string;

  @Flag({
    name: 'etcd-certfile',
    description: 'PEM client certificate for etcd; read at start only',
    default: '',
  })
  etcdCertFile!: string;

  @Flag({ name: 'etcd-keyfile', description: 'PEM key of --etcd-certfile', default: '' })
  etcdKeyFile!: string;

  @Flag({
    name: 'etcd-prefix',
    description:
      'prefix of all keys in etcd, different for each cluster on one etcd; a change selects another cluster',
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
 * Opens the store on the etcd of the flags; the shutdown stops it. Rejects with FatalError if an
 * option or a file is invalid or no server responds.
 */
export async function openStoreOnEtcd(
  options: EtcdOptions,
  context: EtcdStoreContext,
): Promise<VersionedStore> {
  const { logger, lifecycle, observer, historyRetentionMs, compactionIntervalMs } = context;
  const { etcdServers: endpoints, etcdPrefix: prefix } = options;
  const tls = tlsOf(options);
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

/** The connections read the files later, where an invalid one would not be an expected failure. */
function tlsOf({ etcdCaFile, etcdCertFile, etcdKeyFile }: EtcdOptions): EtcdTls {
  const [authorityPem, certificatePem, keyPem] = [etcdCaFile, etcdCertFile, etcdKeyFile].map(
    (path) => {
      const pem = readPem(path);
      return pem === undefined ? undefined : Buffer.from(pem);
    },
  );
  usingFilesOf('--etcd-certfile, --etcd-keyfile', () =>
    createSecureContext({ cert: certificatePem, key: keyPem }),
  );
  return {
    ...(authorityPem && { authorityPem }),
    ...(certificatePem && { certificatePem }),
    ...(keyPem && { keyPem }),
  };
}
