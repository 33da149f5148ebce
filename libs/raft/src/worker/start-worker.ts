/**
 * Starts the replicated log as in production: the replica in a worker thread, with its files and
 * its network.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { ReplicaIdentityOptions, ReplicaTuning } from '../replica/startup/replica-options.js';
import type { CertificateFiles } from '../transport/grpc/peer-certificates.js';
import type { Port } from './port-channel.js';
import {
  type ReplicaThread,
  WorkerReplicatedLog,
  type WorkerReplicatedLogDependencies,
} from './worker-replicated-log.js';

/** Plain data: it goes to the thread as it is. */
export interface WorkerReplicaOptions {
  /** Directory of the log; created when absent. */
  readonly directory: string;
  readonly identity: ReplicaIdentityOptions;
  readonly tuning: Partial<ReplicaTuning>;
  /** Absent for a sole member without network. */
  readonly network?: {
    /** `https://host:port`. */
    readonly listenUrl: string;
    readonly certificates: CertificateFiles;
  };
}

/** Not yet started: the thread begins with `start`. */
export function createWorkerReplicatedLog(
  replica: WorkerReplicaOptions,
  options: Omit<WorkerReplicatedLogDependencies, 'connect'>,
  file = replicaWorkerFile(),
): WorkerReplicatedLog {
  if (file === undefined) throw new Error('the file of the replica’s thread is missing');
  return new WorkerReplicatedLog({
    ...options,
    connect: (onEnded) => startThread(file, replica, onEnded),
  });
}

function startThread(
  file: string,
  replica: WorkerReplicaOptions,
  onEnded: (error: Error) => void,
): ReplicaThread {
  const worker = new Worker(file, { name: 'replica', workerData: replica });
  let asked = false;
  const ended = (error: Error) => {
    if (!asked) onEnded(error);
    asked = true;
  };
  worker.on('error', ended);
  worker.on('exit', (code) => ended(new Error(`the replica's thread ended with code ${code}`)));
  return {
    port: worker as Port,
    terminate: async () => {
      asked = true;
      await worker.terminate();
    },
  };
}

/**
 * What the thread runs: beside the server's one file, where `scripts/bundle-server.mjs` puts it, or
 * in the built tree. Undefined among sources that were not built: then there is nothing to start a
 * thread from.
 */
export function replicaWorkerFile(): string | undefined {
  return ['./raft-worker.mjs', './worker-main.js']
    .map((name) => fileURLToPath(new URL(name, import.meta.url)))
    .find((file) => existsSync(file));
}
