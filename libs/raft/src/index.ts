/** The replicated log: proposals return committed, in order, once a quorum stores them. */

export {
  asLogIndex,
  asMemberId,
  asTerm,
  branded,
  nextIndex,
  noIndex,
  noTerm,
} from './core/brands.js';
export { membersOf } from './core/configuration/members.js';
export { collectMarks, type MarkName, markNames } from './core/coverage-marks.js';
export { commandBytesMax } from './core/limits.js';
export { crc32c } from './core/log/crc32c.js';
export { entryAfter } from './core/log/entry-checksum.js';
export type { PeerProgress } from './core/status.js';
export type {
  Configuration,
  Entry,
  Leadership,
  LogIndex,
  LogPoint,
  Member,
  MemberId,
  MembershipChange,
  Role,
  SnapshotPoint,
  Term,
} from './core/types.js';
export { Deadlines, type Waiting } from './deadlines.js';
export type {
  DropReason,
  LogObserver,
  ReplicaObserver,
  SnapshotDirection,
} from './log-observer.js';
export {
  InThreadReplicatedLog,
  type InThreadReplicatedLogDependencies,
} from './replica/in-thread-replicated-log.js';
export { bootstrapCluster, type InitialMember, randomId } from './replica/startup/bootstrap.js';
export {
  defaultReplicaTuning,
  type ReplicaIdentityOptions,
  type ReplicaTuning,
} from './replica/startup/replica-options.js';
export * from './replicated-log.js';
export {
  CheckedStreamReader,
  CheckedStreamWriter,
  chunkPayloadBytes,
  snapshotChunkBytes,
} from './storage/checked-stream.js';
export type * from './storage/disk/disk.js';
export { FileDisk } from './storage/disk/file-disk.js';
export { LogStore } from './storage/log-store.js';
export type { Identity, RecoveredLog } from './storage/stored-log.js';
export { ManualClock } from './testing/manual-clock.js';
export {
  MemoryDisk,
  MemoryReplicatedLog,
  memoryMember,
} from './testing/memory-log.js';
export { type RecordChoice, SimDisk } from './testing/sim-disk.js';
export { healthyDisk, type SimDiskCounts, type SimDiskFaults } from './testing/sim-faults.js';
export { calmConditions, type LinkConditions, type SimNetworkCounts } from './testing/sim-link.js';
export { ProcessGone, type SimDiskOptions } from './testing/sim-machine.js';
export {
  SimNetwork,
  type SimNetworkOptions,
  type SimTransportOptions,
} from './testing/sim-network.js';
export { GrpcTransport, type GrpcTransportOptions } from './transport/grpc/grpc-transport.js';
export type { CertificateFiles } from './transport/grpc/peer-certificates.js';
export { TlsChannelCredentials } from './transport/grpc/tls-credentials.js';
export { trafficObserver } from './transport/traffic-observer.js';
export type { Transport } from './transport/transport.js';
export { TransportError, type TransportErrorCode } from './transport/transport-error.js';
export type { TransportObserver } from './transport/transport-observer.js';
export {
  createWorkerReplicatedLog,
  replicaWorkerFile,
  type WorkerReplicaOptions,
} from './worker/start-worker.js';
export {
  type ReplicaThread,
  WorkerReplicatedLog,
  type WorkerReplicatedLogDependencies,
} from './worker/worker-replicated-log.js';
