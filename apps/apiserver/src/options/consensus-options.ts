/** Flags of the replica in every API server: its identity, its peers and its timing. */
import { Flag, ValueError } from '@orch/component';
import { IsIn, IsNotEmpty, Matches, Max, Min } from 'class-validator';

export const initialClusterStates = ['new', 'join'] as const;
export type InitialClusterState = (typeof initialClusterStates)[number];

/** One entry of `--initial-cluster`. */
export interface InitialMember {
  readonly name: string;
  /** `https://host:port`. */
  readonly peerUrl: string;
}

const peerUrlPattern = /^https:\/\/[^\s/?#]+:\d+$/;
/** One late heartbeat must not start an election. */
const heartbeatsPerElectionMin = 5;

export class ConsensusOptions {
  @Flag({
    name: 'member-name',
    description:
      'name of this replica, unique in the cluster and fixed once its data directory exists',
    default: 'default',
  })
  @IsNotEmpty()
  @Matches(/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/i, {
    message: 'must be letters, digits, dots and dashes, at most 63',
  })
  memberName!: string;

  @Flag({
    name: 'initial-cluster',
    description:
      'replicas of a new cluster as name=https://host:port,..., including this replica and equal on all; with --initial-cluster-state=join the members to contact. Read only if the data directory is empty; empty: this replica only',
    type: 'list',
  })
  initialCluster: string[] = [];

  @Flag({
    name: 'initial-cluster-state',
    description:
      'new: create the cluster with the other replicas; join: join a cluster to which this replica has been added (see orchctl cluster add-member). Read only if the data directory is empty',
    default: 'new',
    type: 'string',
  })
  @IsIn(initialClusterStates)
  initialClusterState!: InitialClusterState;

  @Flag({
    name: 'initial-cluster-token',
    description: 'token that distinguishes clusters with the same members',
    default: 'cluster',
  })
  @IsNotEmpty()
  initialClusterToken!: string;

  @Flag({
    name: 'listen-peer-url',
    description:
      'URL to listen on for the other replicas; the only replica of a cluster does not listen',
    default: 'https://127.0.0.1:6480',
  })
  @Matches(peerUrlPattern, { message: 'must be https://host:port' })
  listenPeerUrl!: string;

  @Flag({
    name: 'advertise-peer-url',
    description: 'URL at which the other replicas reach this replica; empty: the listen URL',
    default: '',
  })
  @Matches(/^$|^https:\/\/[^\s/?#]+:\d+$/, { message: 'must be https://host:port' })
  advertisePeerUrl!: string;

  @Flag({
    name: 'advertise-client-url',
    description:
      'URL of the API of this replica, shown to operators; empty: the advertised address and the port',
    default: '',
  })
  @Matches(/^$|^https:\/\/[^\s?#]+$/, { message: 'must be an https URL' })
  advertiseClientUrl!: string;

  @Flag({
    name: 'peer-cert-file',
    description:
      'PEM certificate for connections with the other replicas, for server and client use',
    default: '',
  })
  peerCertFile!: string;

  @Flag({ name: 'peer-key-file', description: 'PEM key of --peer-cert-file', default: '' })
  peerKeyFile!: string;

  @Flag({
    name: 'peer-trusted-ca-file',
    description:
      'PEM authorities of the replicas; every holder of their certificates may replicate',
    default: '',
  })
  peerTrustedCaFile!: string;

  @Flag({
    name: 'heartbeat-interval',
    description:
      'time between heartbeats of the leader. Higher: failures are detected later. Lower: more traffic while idle.',
    default: '100ms',
    type: 'duration',
  })
  @Min(10)
  @Max(10_000)
  heartbeatIntervalMs!: number;

  @Flag({
    name: 'election-timeout',
    description:
      'time without a heartbeat after which a follower starts an election. Higher: longer outage after a crash. Lower: a slow disk or network changes the leader.',
    default: '1s',
    type: 'duration',
  })
  @Min(50)
  @Max(60_000)
  electionTimeoutMs!: number;

  @Flag({
    name: 'quota-backend-bytes',
    description:
      'payload bytes of objects and retained history. Higher: more memory and longer starts. Lower: writes except deletes are rejected earlier.',
    default: '8Gi',
    type: 'bytes',
  })
  @Min(1024 * 1024)
  quotaBytes!: number;

  checkRelations(): void {
    const { heartbeatIntervalMs, electionTimeoutMs } = this;
    if (electionTimeoutMs < heartbeatsPerElectionMin * heartbeatIntervalMs) {
      throw new ValueError(
        `--election-timeout: must be at least ${heartbeatsPerElectionMin} times --heartbeat-interval, got ${electionTimeoutMs} ms and ${heartbeatIntervalMs} ms`,
      );
    }
    const members = this.initialMembers();
    const own = members.find(({ name }) => name === this.memberName);
    if (this.initialClusterState === 'new') {
      if (!own) {
        throw new ValueError(
          `--initial-cluster: must name this replica, --member-name=${this.memberName}`,
        );
      }
      if (own.peerUrl !== this.peerUrl) {
        throw new ValueError(
          `--initial-cluster: has ${own.peerUrl} for ${own.name}, but --advertise-peer-url is ${this.peerUrl}`,
        );
      }
    } else if (this.initialCluster.length === 0) {
      throw new ValueError('--initial-cluster: name members of the cluster to join');
    }
    const given = [this.peerCertFile, this.peerKeyFile, this.peerTrustedCaFile];
    const count = given.filter((file) => file !== '').length;
    if (count !== 0 && count !== given.length) {
      throw new ValueError(
        '--peer-cert-file, --peer-key-file and --peer-trusted-ca-file belong together: give all or none',
      );
    }
    if (count === 0 && (members.length > 1 || this.initialClusterState === 'join')) {
      throw new ValueError(
        '--peer-cert-file, --peer-key-file, --peer-trusted-ca-file: replicas connect to each other over mutual TLS only',
      );
    }
  }

  get peerUrl(): string {
    return this.advertisePeerUrl === '' ? this.listenPeerUrl : this.advertisePeerUrl;
  }

  /** Returns the members of `--initial-cluster`, or this replica alone. */
  initialMembers(): InitialMember[] {
    if (this.initialCluster.length === 0) {
      return [{ name: this.memberName, peerUrl: this.peerUrl }];
    }
    const members = this.initialCluster.map(initialMember);
    for (const key of ['name', 'peerUrl'] as const) {
      const values = members.map((member) => member[key]);
      const twice = values.find((value, at) => values.indexOf(value) !== at);
      if (twice !== undefined) {
        throw new ValueError(`--initial-cluster: ${twice} appears twice`);
      }
    }
    return members;
  }
}

function initialMember(text: string): InitialMember {
  const at = text.indexOf('=');
  const peerUrl = text.slice(at + 1);
  if (at <= 0 || !peerUrlPattern.test(peerUrl)) {
    throw new ValueError(
      `--initial-cluster: want name=https://host:port, got ${JSON.stringify(text)}`,
    );
  }
  return { name: text.slice(0, at), peerUrl };
}
