/** The server's report about its replicas, as tables. */

export interface MemberView {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly peerUrl: string;
  readonly clientUrl: string;
  readonly healthy: boolean;
  readonly reason?: string;
  readonly pid?: number;
  readonly term?: number;
  readonly commitIndex?: number;
  readonly appliedIndex?: number;
  readonly revision?: number;
  readonly dbSizeBytes?: number;
}

export interface ClusterView {
  readonly clusterId: string;
  readonly leader: string;
  readonly revision: number;
  readonly members: readonly MemberView[];
}

export interface ClusterCheck {
  readonly revision: number;
  readonly members: readonly {
    readonly id: string;
    readonly name: string;
    /** Absent if the replica did not respond in time. */
    readonly hash?: string;
    readonly reason?: string;
  }[];
}

type Row = readonly string[];

export function memberRows({ members }: ClusterView, live: boolean): Row[] {
  if (!live) {
    return [
      ['ID', 'NAME', 'ROLE', 'PEER URL', 'CLIENT URL'],
      ...members.map(({ id, name, role, peerUrl, clientUrl }) => [
        id,
        name,
        role,
        peerUrl,
        clientUrl,
      ]),
    ];
  }
  return [
    ['NAME', 'ROLE', 'HEALTHY', 'TERM', 'COMMIT', 'APPLIED', 'REVISION', 'SIZE', 'REASON'],
    ...members.map((member) => [
      member.name,
      member.role,
      member.healthy ? 'yes' : 'no',
      text(member.term),
      text(member.commitIndex),
      text(member.appliedIndex),
      text(member.revision),
      member.dbSizeBytes === undefined ? '-' : sizeText(member.dbSizeBytes),
      member.reason ?? '',
    ]),
  ];
}

/** `incomplete`: all replicas that responded have the same content, some did not respond. */
export type Verdict = 'consistent' | 'NOT CONSISTENT' | 'incomplete';

export function verdictOf({ members }: ClusterCheck): Verdict {
  const hashes = new Set(members.flatMap(({ hash }) => hash ?? []));
  if (hashes.size > 1) return 'NOT CONSISTENT';
  return unanswered(members).length > 0 ? 'incomplete' : 'consistent';
}

export function unanswered(members: ClusterCheck['members']): string[] {
  return members.filter(({ hash }) => hash === undefined).map(({ name }) => name);
}

export function checkRows(check: ClusterCheck): Row[] {
  const { members, revision } = check;
  return [
    ['NAME', 'REVISION', 'HASH', 'REASON'],
    ...members.map(({ name, hash = '-', reason = '' }) => [name, String(revision), hash, reason]),
    ['', '', verdictOf(check)],
  ];
}

function text(value: number | undefined): string {
  return value === undefined ? '-' : String(value);
}

function sizeText(bytes: number): string {
  return bytes < 1024 * 1024
    ? `${Math.ceil(bytes / 1024)}Ki`
    : `${(bytes / 1024 / 1024).toFixed(1)}Mi`;
}
