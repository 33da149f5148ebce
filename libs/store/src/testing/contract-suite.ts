/** The store that the contract tests use, opened again for each test. */
import type { VersionedStore } from '../versioned-store.js';
import type { StoreHarness } from './harness.js';

export const podsPrefix = 'core/pods/';
export const keyA = 'core/pods/ns/a';
export const keyB = 'core/pods/ns/b';
export const keyC = 'core/pods/other/c';

export class ContractSuite {
  private harness!: StoreHarness;
  private current!: VersionedStore;

  constructor(private readonly createHarness: () => Promise<StoreHarness>) {}

  get store(): VersionedStore {
    return this.current;
  }

  /** Opens an empty store. */
  async start(): Promise<void> {
    this.harness = await this.createHarness();
    this.current = await this.harness.open();
  }

  /** Stops the store and opens it again with its commits. */
  async reopen(): Promise<void> {
    await this.current.stop();
    this.current = await this.harness.open();
  }

  async destroy(): Promise<void> {
    await this.harness.destroy();
  }
}
