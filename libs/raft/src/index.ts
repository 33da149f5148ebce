/** The replicated log: what is proposed comes back committed, in order, once it is on disk. */
export { collectMarks, MARK_NAMES, type MarkName } from './core/coverage-marks.js';
export { entryAfter } from './core/entry-checksum.js';
export type {
  Configuration,
  Entry,
  Leadership,
  LogPoint,
  Member,
  MemberId,
  MembershipChange,
  Role,
  SnapshotPoint,
  Term,
} from './core/types.js';
export { crc32c } from './crc32c.js';
export { Deadlines, type Waiting } from './deadlines.js';
export { HostedLog, type HostedLogOptions, type HostThread } from './host/hosted-log.js';
export {
  createHostedLog,
  type HostedReplicaOptions,
  hostedReplicaFile,
} from './host/start-hosted-log.js';
export { COMMAND_BYTES_MAX } from './limits.js';
export type { LogObserver, ReplicaObserver, SnapshotDirection } from './log-observer.js';
export { bootstrapCluster, type InitialMember, randomId } from './replica/bootstrap.js';
export { membersOf } from './replica/members.js';
export { ReplicaLog, type ReplicaLogOptions } from './replica/replica-log.js';
export {
  DEFAULT_REPLICA_TUNING,
  type ReplicaIdentityOptions,
  type ReplicaTuning,
} from './replica/replica-options.js';
export * from './replicated-log.js';
export {
  CHUNK_PAYLOAD_BYTES,
  CheckedStreamReader,
  CheckedStreamWriter,
  SNAPSHOT_CHUNK_BYTES,
} from './storage/checked-stream.js';
export { DatabaseLogStore } from './storage/database-log-store.js';
export type * from './storage/disk.js';
export { FileDisk } from './storage/file-disk.js';
export type { Identity, LogStore, StoredLog } from './storage/log-store.js';
export { ManualClock } from './testing/manual-clock.js';
export { MEMORY_MEMBER, MemoryDisk, MemoryLog } from './testing/memory-log.js';
export { type RecordChoice, SimDisk } from './testing/sim-disk.js';
export { HEALTHY_DISK, type SimDiskCounts, type SimDiskFaults } from './testing/sim-faults.js';
export { CALM, type LinkConditions, type SimNetworkCounts } from './testing/sim-link.js';
export { ProcessGone, type SimDiskOptions } from './testing/sim-machine.js';
export {
  SimNetwork,
  type SimNetworkOptions,
  type SimTransportOptions,
} from './testing/sim-network.js';
export { GrpcTransport, type GrpcTransportOptions } from './transport/grpc-transport.js';
export type { CertificateFiles } from './transport/peer-certificates.js';
export { trafficObserver } from './transport/traffic-observer.js';
export type { Transport } from './transport/transport.js';
export { TransportError, type TransportErrorCode } from './transport/transport-error.js';
export type { DropReason, TransportObserver } from './transport/transport-observer.js';
