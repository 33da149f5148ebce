/** Where the replica's thread begins: its log on the real disk and the real network. */
import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '@orch/component';
import { InThreadReplicatedLog } from '../replica/in-thread-replicated-log.js';
import { defaultReplicaTuning } from '../replica/startup/replica-options.js';
import { FileDisk } from '../storage/disk/file-disk.js';
import { LogStore } from '../storage/log-store.js';
import { GrpcTransport } from '../transport/grpc/grpc-transport.js';
import { trafficObserver } from '../transport/traffic-observer.js';
import type { Port } from './port-channel.js';
import { ReplicaWorker } from './replica-worker.js';
import type { WorkerReplicaOptions } from './start-worker.js';

const { directory, identity, tuning, network } = workerData as WorkerReplicaOptions;
const { cacheEntriesMax, cacheBytesMax } = { ...defaultReplicaTuning, ...tuning };
const clock = systemClock;
const disk = new FileDisk();
// 48 bits are as many as a number in [0, 1) holds without loss.
const random = () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48;

const host = new ReplicaWorker({
  port: parentPort as Port,
  clock,
  createLog: (parts) =>
    new InThreadReplicatedLog({
      ...parts,
      identity,
      tuning,
      openStore: () => new LogStore({ disk, directory, clock, cacheEntriesMax, cacheBytesMax }),
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
