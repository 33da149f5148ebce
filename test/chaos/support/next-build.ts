/**
 * A second build of the API server, as its next release might be: the built program under another version,
 * that speaks a higher version of the protocol between replicas and says in its messages something that
 * this build has never heard of. What is stored has the same format in both.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { apiServerMain, repositoryRoot } from './repository.js';

export const nextVersion = '999.0.0-next';

/** Messages that carry the field that this build does not know. */
const messages = [
  'Greeting',
  'Entry',
  'VoteRequest',
  'VoteResponse',
  'AppendRequest',
  'AppendResponse',
  'HeartbeatRequest',
  'HeartbeatResponse',
  'ReadIndexRequest',
  'ReadIndexResponse',
  'ProposeRequest',
  'SnapshotHeader',
] as const;
/** Field 100, a text: two bytes of tag, one of length. */
const fieldTag = (100 << 3) | 2;
const fieldText = 'next';
const fieldBytes = 3 + fieldText.length;

/** Writes it to a new directory. Returns its main file. Throws when the built program is not as it was. */
export function makeNextBuild(directory: string): string {
  mkdirSync(directory);
  symlinkSync(join(repositoryRoot, 'node_modules'), join(directory, 'node_modules'));
  const main = join(directory, 'main.mjs');
  writeFileSync(main, withVersion(withNewWire(readFileSync(apiServerMain, 'utf8'))));
  const thread = 'raft-worker.mjs';
  const built = readFileSync(join(dirname(apiServerMain), thread), 'utf8');
  writeFileSync(join(directory, thread), withNewWire(built));
  return main;
}

function withVersion(program: string): string {
  return replaceOnce(program, /(var orchVersion = )"[^"]+"/, `$1"${nextVersion}"`);
}

function withNewWire(program: string): string {
  const higher = replaceOnce(program, /(var PROTOCOL_VERSION = )(\d+);/, '$1$2 + 1;');
  return messages.reduce((text, message) => {
    const sized = new RegExp(`(function size${message}\\(\\w+, \\w+\\) \\{\\s+let size = )0;`);
    const written = new RegExp(`(function write${message}\\(\\w+, (\\w+)\\) \\{)`);
    return replaceOnce(
      replaceOnce(text, sized, `$1${fieldBytes};`),
      written,
      `$1 $2.uint(${fieldTag}); $2.string("${fieldText}");`,
    );
  }, higher);
}

function replaceOnce(text: string, pattern: RegExp, by: string): string {
  const count = text.match(new RegExp(pattern, 'g'))?.length ?? 0;
  if (count !== 1) throw new Error(`${pattern} is in the built program ${count} times, not once`);
  return text.replace(pattern, by);
}
