/**
 * The identity of a new cluster and of its first members, derived from the options that all of them
 * have at their first start: so they agree without communication. Pure. Members that join later get
 * a random id.
 */

import { createHash } from 'node:crypto';
import { asMemberId } from '../../core/brands.js';
import type { Configuration, Member, MemberId } from '../../core/types.js';
import { membersMax } from '../../limits.js';
import { LogError } from '../../replicated-log.js';

export interface InitialMember {
  readonly name: string;
  /** `https://host:port`. */
  readonly peerUrl: string;
}

export interface Bootstrap {
  readonly clusterId: string;
  readonly self: Member;
  readonly configuration: Configuration;
}

/**
 * Throws LogError `BadConfiguration` when the members do not fit together, or `memberName` is not
 * among them.
 */
export function bootstrapCluster(
  token: string,
  members: readonly InitialMember[],
  memberName: string,
): Bootstrap {
  checkMembers(members);
  const voters = [...members]
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .map((member) => ({
      id: initialMemberId(token, member),
      name: member.name,
      peerUrl: member.peerUrl,
      clientUrl: '',
    }));
  const self = voters.find(({ name }) => name === memberName);
  if (!self) {
    const names = voters.map(({ name }) => name).join(', ');
    throw badConfiguration(
      `member ${memberName} is not among the initial members (${names}): name it there`,
    );
  }
  return {
    clusterId: initialClusterId(token, voters),
    self,
    configuration: { voters, learners: [] },
  };
}

export function initialMemberId(token: string, { name, peerUrl }: InitialMember): MemberId {
  return asMemberId(digest(['member', token, name, peerUrl]));
}

/** `members` in the order of their names. */
export function initialClusterId(token: string, members: readonly InitialMember[]): string {
  return digest(['cluster', token, ...members.flatMap(({ name, peerUrl }) => [name, peerUrl])]);
}

/** 16 hexadecimal digits. */
export function randomId(random: () => number): string {
  let id = '';
  for (let part = 0; part < 4; part += 1) {
    id += Math.floor(random() * 0x1_0000)
      .toString(16)
      .padStart(4, '0');
  }
  return id;
}

export function badConfiguration(message: string): LogError {
  return new LogError('BadConfiguration', message);
}

function checkMembers(members: readonly InitialMember[]): void {
  if (members.length > membersMax) {
    throw badConfiguration(`${members.length} initial members, at most ${membersMax} are taken`);
  }
  const names = new Set<string>();
  const peerUrls = new Set<string>();
  for (const { name, peerUrl } of members) {
    if (name === '') throw badConfiguration(`the initial member at ${peerUrl} has no name`);
    if (names.has(name)) throw badConfiguration(`two initial members are named ${name}`);
    if (peerUrls.has(peerUrl)) throw badConfiguration(`two initial members have ${peerUrl}`);
    names.add(name);
    peerUrls.add(peerUrl);
  }
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
