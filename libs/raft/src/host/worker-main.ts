/** Where the replica's thread begins: its log on the real disk and the real network. */
import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '@orch/component';
import { ReplicaLog } from '../replica/replica-log.js';
import { DEFAULT_REPLICA_TUNING } from '../replica/replica-options.js';
import { DatabaseLogStore } from '../storage/database-log-store.js';
import { FileDisk } from '../storage/file-disk.js';
import { GrpcTransport } from '../transport/grpc-transport.js';
import { trafficObserver } from '../transport/traffic-observer.js';
import { LogHost } from './log-host.js';
import type { Port } from './port-channel.js';
import type { HostedReplicaOptions } from './start-hosted-log.js';

const { directory, identity, tuning, network } = workerData as HostedReplicaOptions;
const { cacheEntriesMax, cacheBytesMax } = { ...DEFAULT_REPLICA_TUNING, ...tuning };
const clock = systemClock;
const disk = new FileDisk();
// 48 bits are as many as a number in [0, 1) holds without loss.
const random = () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48;

const host = new LogHost({
  port: parentPort as Port,
  clock,
  createLog: (parts) =>
    new ReplicaLog({
      ...parts,
      identity,
      tuning,
      openStore: () =>
        new DatabaseLogStore({ disk, directory, clock, cacheEntriesMax, cacheBytesMax }),
      clock,
      random,
      ...(network && {
        transport: new GrpcTransport({
          ...network,
          clock,
          random,
          logger: parts.logger,
          observer: trafficObserver(parts.observer),
        }),
      }),
    }),
});

process.on('uncaughtException', (error) => host.fail(error));
