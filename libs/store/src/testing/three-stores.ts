/**
 * Three replicas with their stores in one process, on real disks, over a network in memory, with
 * short election timeouts.
 */
import { join } from 'node:path';
import { type Logger, systemClock } from '@orch/component';
import { FileDisk, type InitialMember, SimNetwork } from '@orch/raft';
import { createInThreadStore, type StoreAndLog } from '../in-thread-store.js';
import type { StoreOptions } from '../store-options.js';
import { quietLogger, until } from './harness.js';

const members: InitialMember[] = ['a', 'b', 'c'].map((name, at) => ({
  name,
  peerUrl: `https://10.0.0.${at + 1}:6480`,
}));

export class ThreeStores {
  readonly network = new SimNetwork({ clock: systemClock, random: Math.random });
  readonly fatal: Error[] = [];
  /** Logged errors. */
  readonly errors: string[] = [];
  private readonly running = new Map<string, StoreAndLog>();

  private readonly logger: Logger = {
    ...quietLogger,
    error: (_fields: unknown, message?: string) => void this.errors.push(message ?? ''),
    child: () => this.logger,
  };

  constructor(
    private readonly directory: string,
    private readonly options: Partial<StoreOptions>,
    private readonly logKeepEntries = 10_000,
  ) {}

  /** All that do not run begin to; resolves when every one of them is ready. */
  async start(): Promise<void> {
    for (const { name } of members) if (!this.running.has(name)) await this.begin(name);
    for (const { store } of this.running.values()) {
      await until(() => store.status().ready, 'the store is ready');
    }
  }

  async begin(name: string): Promise<StoreAndLog> {
    const { peerUrl } = members.find((member) => member.name === name)!;
    const made = createInThreadStore({
      dataDirectory: join(this.directory, name),
      disk: new FileDisk(),
      clock: systemClock,
      random: Math.random,
      logger: this.logger,
      onFatal: (error) => this.fatal.push(error),
      options: this.options,
      tuning: { heartbeatMs: 20, electionMs: 200, logKeepEntries: this.logKeepEntries },
      transport: this.network.transport(peerUrl, { clock: systemClock }),
      identity: {
        memberName: name,
        peerUrl,
        clientUrl: '',
        initialMembers: members,
        initialState: 'new',
        clusterToken: 'cluster',
      },
    });
    this.running.set(name, made);
    await made.store.start();
    return made;
  }

  get names(): string[] {
    return [...this.running.keys()];
  }

  of(name: string): StoreAndLog {
    return this.running.get(name)!;
  }

  /** Resolves with its name once there is one. */
  async leader(): Promise<string> {
    const leads = (name: string) => this.of(name).log.status().role === 'leader';
    await until(() => this.names.some(leads), 'somebody leads');
    return this.names.find(leads)!;
  }

  async follower(): Promise<string> {
    const leader = await this.leader();
    return this.names.find((name) => name !== leader)!;
  }

  async stop(name: string): Promise<void> {
    await this.of(name).store.stop();
    this.running.delete(name);
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.names.map((name) => this.stop(name)));
  }
}
