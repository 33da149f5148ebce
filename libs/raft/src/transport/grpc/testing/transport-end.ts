/**
 * One end of the real network for tests: a transport on a free port that records the calls of its
 * handlers.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Clock,
  createAuthority,
  createLogger,
  issueCertificate,
  type KeyPairPem,
  type LoopClock,
  systemClock,
} from '@orch/component';
import { vi } from 'vitest';
import { asLogIndex, asTerm, branded, noIndex, previousIndex } from '../../../core/brands.js';
import type { Message } from '../../../core/messages.js';
import type { Member, MemberId, SnapshotPoint, Term } from '../../../core/types.js';
import type { DropReason } from '../../../log-observer.js';
import type { ReplicaStatus } from '../../../replicated-log.js';
import { certificatePollMs } from '../../limits.js';
import {
  type Greeting,
  type GreetingAnswer,
  type PeerLoss,
  type TransportHandlers,
  wireProtocolVersion,
} from '../../transport.js';
import type { TransportObserver } from '../../transport-observer.js';
import { GrpcTransport, type GrpcTransportOptions } from '../grpc-transport.js';
import type { CertificateFiles } from '../peer-certificates.js';

const hourMs = 3_600_000;

/** Waits for a condition, as long as a loaded machine may need. */
export function eventually(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 15_000, interval: 10 });
}

/** A directory with an authority, and pairs it has issued. */
export class TestAuthority {
  private constructor(
    readonly directory: string,
    readonly authority: KeyPairPem,
  ) {}

  static async create(): Promise<TestAuthority> {
    const directory = await mkdtemp(join(tmpdir(), 'transport-'));
    const authority = await createAuthority('peers', 24 * hourMs, systemClock);
    await writeFile(join(directory, 'ca.crt'), authority.certificatePem);
    return new TestAuthority(directory, authority);
  }

  /** Writes the pair `name`, as a rotation would; valid from `clock`'s now for an hour. */
  async issue(name: string, clock: Clock = systemClock): Promise<CertificateFiles> {
    const pair = await issueCertificate(
      this.authority,
      {
        commonName: name,
        hosts: ['127.0.0.1', 'localhost'],
        usages: ['server', 'client'],
        validMs: hourMs,
      },
      clock,
    );
    const files = this.files(name);
    await writeFile(files.keyFile, pair.keyPem, { mode: 0o600 });
    await writeFile(files.certificateFile, pair.certificatePem);
    return files;
  }

  files(name: string): CertificateFiles {
    return {
      certificateFile: join(this.directory, `${name}.crt`),
      keyFile: join(this.directory, `${name}.key`),
      authoritiesFile: join(this.directory, 'ca.crt'),
    };
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true });
  }
}

/** A clock on which the files of certificates are read often. */
export const pollingClock: LoopClock = {
  ...systemClock,
  setTimer: (delayMs, callback) =>
    systemClock.setTimer(delayMs === certificatePollMs ? 100 : delayMs, callback),
};

/** A clock whose wall time is another one. */
export function shiftedClock(byMs: number): Clock {
  return { ...systemClock, nowMs: () => systemClock.nowMs() + byMs };
}

export class TransportEnd implements TransportHandlers, TransportObserver {
  readonly greetings: Greeting[] = [];
  readonly answers: (readonly [MemberId, GreetingAnswer])[] = [];
  readonly messages: Message[] = [];
  readonly unreachable: (readonly [MemberId, string])[] = [];
  readonly drops: (readonly [MemberId, number, DropReason])[] = [];
  readonly roundTrips: number[] = [];
  readonly logLines: string[] = [];
  readonly open = new Set<MemberId>();
  sentFrames = 0;
  damagedFrames = 0;
  snapshotBytesSent = 0;
  snapshotBytesReceived = 0;
  /** Greeting of this end. */
  greeting: Greeting;
  judge: (greeting: Greeting) => GreetingAnswer | Promise<GreetingAnswer>;
  takeMessages: (messages: readonly Message[]) => void = (messages) => {
    this.messages.push(...messages);
  };
  takeSnapshot: TransportHandlers['onSnapshot'] = async (_from, _term, _point, chunks) => {
    for await (const _ of chunks);
  };
  operate: TransportHandlers['onOperatorRequest'] = async () => ({
    kind: 'failed',
    code: 'NotLeader',
    message: 'not here',
  });
  private activeTransport: GrpcTransport;

  constructor(
    readonly id: MemberId,
    readonly certificates: CertificateFiles,
    private readonly options: Partial<GrpcTransportOptions> = {},
  ) {
    this.greeting = {
      clusterId: 'c000000000000001',
      memberId: id,
      storageId: `storage-of-${id}`,
      protocolVersion: wireProtocolVersion,
      fresh: false,
    };
    this.judge = () => ({ kind: 'welcome', greeting: this.greeting });
    this.activeTransport = this.make('https://127.0.0.1:0');
  }

  get transport(): GrpcTransport {
    return this.activeTransport;
  }

  get peerUrl(): string {
    return `https://127.0.0.1:${this.activeTransport.port}`;
  }

  get member(): Member {
    return { id: this.id, name: `name-of-${this.id}`, peerUrl: this.peerUrl, clientUrl: '' };
  }

  async start(): Promise<this> {
    await this.activeTransport.start(() => this.greeting, this);
    return this;
  }

  /** Like a restarted process: same address, nothing remembered. */
  async restart(): Promise<void> {
    const url = this.peerUrl;
    await this.activeTransport.stop();
    this.activeTransport = this.make(url);
    await this.start();
  }

  connectTo(...others: readonly { readonly member: Member }[]): void {
    this.activeTransport.setPeers(others.map(({ member }) => member));
  }

  stop(): Promise<void> {
    return this.activeTransport.stop();
  }

  private make(listenUrl: string): GrpcTransport {
    return new GrpcTransport({
      listenUrl,
      certificates: this.certificates,
      clock: pollingClock,
      random: () => 0.5,
      logger: createLogger({
        component: this.id,
        format: 'json',
        level: 'debug',
        write: (line) => this.logLines.push(line),
      }),
      observer: this,
      ...this.options,
    });
  }

  onGreeting(greeting: Greeting): GreetingAnswer | Promise<GreetingAnswer> {
    this.greetings.push(greeting);
    return this.judge(greeting);
  }

  onAnswer(peer: MemberId, answer: GreetingAnswer): void {
    this.answers.push([peer, answer]);
  }

  onMessages(messages: readonly Message[]): void {
    this.takeMessages(messages);
  }

  onUnreachable(peer: MemberId, { reason }: PeerLoss): void {
    this.unreachable.push([peer, reason]);
  }

  onSnapshot(
    from: MemberId,
    term: Term,
    point: SnapshotPoint,
    chunks: AsyncIterable<Buffer>,
  ): Promise<void> {
    return this.takeSnapshot(from, term, point, chunks);
  }

  onStatusRequest(): ReplicaStatus {
    return {
      member: this.member,
      facts: { pid: 7, version: 'v1' },
      status: statusOf(this.member, this.greeting.clusterId),
    };
  }

  onOperatorRequest(...request: Parameters<TransportHandlers['onOperatorRequest']>) {
    return this.operate(...request);
  }

  onRoundTrip(_peer: MemberId, durationMs: number): void {
    this.roundTrips.push(durationMs);
  }

  sent(): void {
    this.sentFrames += 1;
  }

  received(): void {}

  dropped(peer: MemberId, messageCount: number, reason: DropReason): void {
    this.drops.push([peer, messageCount, reason]);
  }

  damaged(): void {
    this.damagedFrames += 1;
  }

  connected(peer: MemberId, isConnected: boolean): void {
    if (isConnected) this.open.add(peer);
    else this.open.delete(peer);
  }

  roundTrip(): void {}

  snapshotSent(_peer: MemberId, byteCount: number): void {
    this.snapshotBytesSent += byteCount;
  }

  snapshotReceived(_peer: MemberId, byteCount: number): void {
    this.snapshotBytesReceived += byteCount;
  }
}

function statusOf(self: Member, clusterId: string): ReplicaStatus['status'] {
  const index = (value: number) => asLogIndex(value);
  return {
    clusterId,
    self,
    role: 'leader',
    term: asTerm(4),
    leader: self.id,
    commitIndex: index(10),
    appliedIndex: index(9),
    firstIndex: index(1),
    lastIndex: index(11),
    proposalsPending: 2,
    configuration: { voters: [self], learners: [] },
    progress: [
      {
        id: self.id,
        matchIndex: index(10),
        appliedIndex: index(9),
        state: 'replicate',
        recentlyActive: true,
      },
    ],
    sizeBytes: 1234,
  };
}

/** An append of `count` entries of `bytes` each, after `firstIndex - 1`. */
export function appendMessage(
  from: MemberId,
  to: MemberId,
  firstIndex: number,
  count: number,
  bytes: number,
): Message {
  const data = Buffer.alloc(bytes, firstIndex & 0xff);
  return {
    kind: 'appendRequest',
    from,
    to,
    term: asTerm(1),
    previous: { index: previousIndex(asLogIndex(firstIndex)), term: asTerm(1), checksum: 1 },
    entries: branded(
      Array.from({ length: count }, (_, at) => ({
        index: asLogIndex(firstIndex + at),
        term: 1,
        kind: 'command' as const,
        data,
        checksum: 0x1234_5678,
      })),
    ),
    commitIndex: noIndex,
    notice: false,
  };
}
