/**
 * The contract of the store, with encryption on top of it: readers and watchers get the
 * same results, also while each decryption waits for a key management service.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EncryptedStore } from '@orch/apiserver';
import { systemClock } from '@orch/component';
import {
  type EncryptionConfiguration,
  isEncrypted,
  parseEncryptionConfiguration,
} from '@orch/security';
import type { Revision, VersionedStore } from '@orch/store';
import { afterAll, afterEach, beforeEach, describe, expect } from 'vitest';
import { KmsPlugin } from '../../libs/security/src/encryption/testing/kms-plugin.js';
import { describeHistories } from '../../libs/store/src/testing/contract-histories.js';
import { describeReads } from '../../libs/store/src/testing/contract-reads.js';
import { ContractSuite } from '../../libs/store/src/testing/contract-suite.js';
import { describeWatches } from '../../libs/store/src/testing/contract-watches.js';
import type { StoreHarness } from '../../libs/store/src/testing/harness.js';
import { openSole } from '../../libs/store/src/testing/sole-store.js';

class EncryptedVersionedStore extends EncryptedStore implements VersionedStore {
  constructor(
    private readonly sole: VersionedStore,
    { resources }: EncryptionConfiguration,
  ) {
    super(sole, systemClock);
    this.setResources(resources);
  }

  start = () => this.sole.start();
  compact = (revision: Revision) => this.sole.compact(revision);
  revisionBefore = (ageMs: number) => this.sole.revisionBefore(ageMs);
  status = () => this.sole.status();

  async stop(): Promise<void> {
    await this.checkStored();
    await this.sole.stop();
  }

  /** Fails if the store below holds plaintext. */
  private async checkStored(): Promise<void> {
    if (!this.sole.status().ready) return;
    const options = { consistency: { kind: 'any' }, timeoutMs: 5_000 } as const;
    const { entries } = await this.sole.list('core/pods/', options);
    expect(entries.filter(({ bytes }) => !isEncrypted(bytes))).toEqual([]);
  }
}

/** Little memory, so that history and resuming watches use the disk. */
const tight = { expiryIntervalMs: 20, ringEventsMax: 3, logKeepEntries: 5 };

function harness(provider: () => Promise<object>): () => Promise<StoreHarness> {
  return async () => {
    const directory = await mkdtemp(join(tmpdir(), 'encrypted-contract-'));
    const file = {
      kind: 'EncryptionConfiguration',
      apiVersion: 'apiserver.config.orch.io/v1',
      resources: [{ resources: ['pods'], providers: [await provider()] }],
    };
    const configuration = parseEncryptionConfiguration(JSON.stringify(file), 'f', systemClock);
    let store: VersionedStore | undefined;
    return {
      open: async () => {
        const sole = await openSole(directory, { options: tight });
        store = new EncryptedVersionedStore(sole, configuration);
        return store;
      },
      destroy: async () => {
        await store?.stop();
        configuration.close();
        await rm(directory, { recursive: true, force: true });
      },
    };
  };
}

const keys = [{ name: 'a', secret: Buffer.alloc(32, 1).toString('base64') }];

// Without the commit tests, because the limit of object sizes applies to ciphertext.
describe('encrypted store with aesgcm', () => {
  const suite = new ContractSuite(harness(async () => ({ aesgcm: { keys } })));
  beforeEach(() => suite.start());
  afterEach(() => suite.destroy());

  describeReads(suite);
  describeWatches(suite);
  describeHistories(suite, 12);
});

const socket = join(tmpdir(), `orch-kms-contract-${process.pid}.sock`);
let plugin: KmsPlugin | undefined;
afterAll(() => plugin?.stop());

// Each read waits for the service, so that watches are delivered after the commit.
describe('encrypted store with a key management service and no cache', () => {
  const suite = new ContractSuite(
    harness(async () => {
      if (!plugin) {
        plugin = new KmsPlugin(socket);
        await plugin.start();
      }
      return { kms: { name: 'k', endpoint: plugin.endpoint, cachesize: -1 } };
    }),
  );
  beforeEach(() => suite.start());
  afterEach(() => suite.destroy());

  describeReads(suite);
  describeHistories(suite, 3);
});
