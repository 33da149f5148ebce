/** How a configuration is written as the data of its entry: JSON, checked when read. */
import { branded } from '../brands.js';
import { invariant } from '../invariant.js';
import { commandBytesMax } from '../limits.js';
import type { Configuration, Member } from '../types.js';

export class ConfigurationFormatError extends Error {
  override readonly name = 'ConfigurationFormatError';
}

export function encodeConfiguration(configuration: Configuration): Buffer {
  invariant(configuration.outgoing?.length !== 0, 'a joint configuration leaves no voters');
  const data = Buffer.from(
    JSON.stringify({
      voters: configuration.voters.map(pick),
      learners: configuration.learners.map(pick),
      ...(configuration.outgoing ? { outgoing: configuration.outgoing.map(pick) } : {}),
    }),
  );
  invariant(data.length <= commandBytesMax, 'a configuration is larger than an entry may be');
  return data;
}

/** Throws ConfigurationFormatError. */
export function decodeConfiguration(data: Buffer): Configuration {
  let read: unknown;
  try {
    read = JSON.parse(data.toString('utf8'));
  } catch (error) {
    throw new ConfigurationFormatError('a configuration is not JSON', { cause: error });
  }
  if (!isRecord(read)) throw new ConfigurationFormatError('a configuration is not an object');
  const configuration: Configuration = {
    voters: readMembers(read.voters, 'voters'),
    learners: readMembers(read.learners, 'learners'),
    ...(read.outgoing === undefined ? {} : { outgoing: readMembers(read.outgoing, 'outgoing') }),
  };
  checkConfiguration(configuration);
  return configuration;
}

/** A configuration that decides: voters, each id once. Throws ConfigurationFormatError. */
export function checkConfiguration({ voters, learners, outgoing }: Configuration): void {
  if (voters.length === 0 || outgoing?.length === 0) {
    throw new ConfigurationFormatError('a configuration has no voters');
  }
  const ids = new Set<string>();
  for (const { id } of [...voters, ...learners]) {
    if (ids.has(id)) throw new ConfigurationFormatError(`member ${id} is listed twice`);
    ids.add(id);
  }
  const leaving = new Set<string>();
  for (const { id } of outgoing ?? []) {
    if (leaving.has(id) || learners.some((learner) => learner.id === id)) {
      throw new ConfigurationFormatError(`outgoing member ${id} is listed twice`);
    }
    leaving.add(id);
  }
}

function readMembers(value: unknown, field: string): Member[] {
  if (!Array.isArray(value)) throw new ConfigurationFormatError(`${field} is not a list`);
  return branded(
    value.map((member: unknown) => {
      if (!isRecord(member))
        throw new ConfigurationFormatError(`a member of ${field} is no object`);
      const read = {
        id: readText(member, 'id'),
        name: readText(member, 'name'),
        peerUrl: readText(member, 'peerUrl'),
        clientUrl: readText(member, 'clientUrl'),
      };
      if (read.id === '') throw new ConfigurationFormatError(`a member of ${field} has no id`);
      return read;
    }),
  );
}

function readText(member: Record<string, unknown>, field: string): string {
  const value = member[field];
  if (typeof value !== 'string') throw new ConfigurationFormatError(`${field} is not a string`);
  return value;
}

function pick({ id, name, peerUrl, clientUrl }: Member): Member {
  return { id, name, peerUrl, clientUrl };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
