/** The log as production has it: the replica in a worker thread, with its files and its network. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { ReplicaIdentityOptions, ReplicaTuning } from '../replica/replica-options.js';
import type { CertificateFiles } from '../transport/peer-certificates.js';
import { HostedLog, type HostedLogOptions, type HostThread } from './hosted-log.js';
import type { Port } from './port-channel.js';

/** Plain data: it goes to the thread as it is. */
export interface HostedReplicaOptions {
  /** Of the log; created when absent. */
  readonly directory: string;
  readonly identity: ReplicaIdentityOptions;
  readonly tuning: Partial<ReplicaTuning>;
  /** Absent for a sole member that listens to nobody. */
  readonly network?: {
    /** `https://host:port`. */
    readonly listenUrl: string;
    readonly certificates: CertificateFiles;
  };
}

/** Not yet started: the thread begins with `start`. */
export function createHostedLog(
  replica: HostedReplicaOptions,
  options: Omit<HostedLogOptions, 'connect'>,
  file = hostedReplicaFile(),
): HostedLog {
  if (file === undefined) throw new Error('the file of the replica’s thread is missing');
  return new HostedLog({ ...options, connect: (onEnded) => startThread(file, replica, onEnded) });
}

function startThread(
  file: string,
  replica: HostedReplicaOptions,
  onEnded: (error: Error) => void,
): HostThread {
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
 * What the thread runs: beside the server's one file, where `scripts/bundle-server.mjs` puts it, or in the
 * built tree. Undefined among sources that were not built: then there is nothing to start a thread from.
 */
export function hostedReplicaFile(): string | undefined {
  return ['./raft-worker.mjs', './worker-main.js']
    .map((name) => fileURLToPath(new URL(name, import.meta.url)))
    .find((file) => existsSync(file));
}
