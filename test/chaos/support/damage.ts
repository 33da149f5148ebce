/** Flips bits in a server's files while it does not run, like a disk that fails silently. */
import { closeSync, openSync, readdirSync, readSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Member } from './chaos-cluster.js';

export const damagedPlaces = ['log tail', 'log middle', 'mark of the log', 'state'] as const;
export type DamagedPlace = (typeof damagedPlaces)[number];

/** Returns a description of the damage. */
export function damage({ dataDirectory }: Member, place: DamagedPlace, share: number): string {
  const path = fileFor(dataDirectory, place);
  const { size } = statSync(path);
  const offset = place === 'log tail' ? Math.max(0, size - 40) : Math.floor(size * share);
  flip(path, Math.min(offset, size - 1));
  return `byte ${offset} of ${size} in ${path}`;
}

function fileFor(directory: string, place: DamagedPlace): string {
  switch (place) {
    case 'log tail':
    case 'log middle':
      return largest(join(directory, 'log', 'leveldb'), /^\d+\.log$/);
    case 'mark of the log':
      return join(directory, 'log', 'tail');
    case 'state':
      return largest(join(directory, 'state', 'leveldb'), /^\d+\.(log|ldb)$/);
  }
}

function largest(directory: string, pattern: RegExp): string {
  const paths = readdirSync(directory)
    .filter((name) => pattern.test(name))
    .map((name) => join(directory, name))
    .sort((left, right) => statSync(right).size - statSync(left).size);
  if (!paths[0]) throw new Error(`nothing to damage in ${directory}`);
  return paths[0];
}

function flip(path: string, offset: number): void {
  const file = openSync(path, 'r+');
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, offset);
  byte[0]! ^= 0x10;
  writeSync(file, byte, 0, 1, offset);
  closeSync(file);
}
