/** Backup files and data directories: the commands that need no running server. */
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  inspectSnapshot,
  recoverDataDirectory,
  restoreDataDirectory,
  type SnapshotFacts,
} from '@orch/store';
import { CliError, UsageError } from '../command-line/errors.js';

export interface RestoreOptions {
  readonly dataDir: string;
  readonly memberName: string;
  readonly initialCluster?: string;
  readonly initialClusterToken: string;
}

/**
 * Writes a backup to a temporary file, verifies it, then renames it, so that a backup file is
 * always complete.
 */
export async function saveTo(file: string, body: AsyncIterable<Uint8Array>): Promise<string> {
  await mustNotExist(file);
  const unfinished = `${file}.part`;
  try {
    await pipeline(
      Readable.from(body),
      createWriteStream(unfinished, { mode: 0o600, flush: true }),
    );
    const facts = await inspect(unfinished);
    await rename(unfinished, file);
    return `saved revision ${facts.revision}, ${facts.keyCount} keys, to ${file}\n`;
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

export async function inspect(file: string): Promise<SnapshotFacts> {
  return inspectSnapshot(resolve(file));
}

export async function restore(file: string, options: RestoreOptions): Promise<string> {
  const { dataDir, memberName, initialCluster, initialClusterToken: token } = options;
  const { clusterId, revision, keyCount } = await restoreDataDirectory({
    file: resolve(file),
    dataDirectory: resolve(dataDir),
    memberName,
    initialCluster: members(initialCluster, memberName),
    token,
  });
  return [
    `restored ${keyCount} keys at revision ${revision} into ${dataDir}`,
    `new cluster ${clusterId}; start ${memberName} on this directory once all its members are restored from the same file`,
    '',
  ].join('\n');
}

export async function recover(dataDir: string): Promise<string> {
  const { clusterId, memberName, lastIndex, commitIndex, term } = await recoverDataDirectory(
    resolve(dataDir),
  );
  return [
    `${dataDir} is now the one replica ${memberName} of the new cluster ${clusterId}`,
    `it had the log up to entry ${lastIndex} of term ${term}, with entries up to ${commitIndex} known as committed; now all entries are committed`,
    'lost: every write that the other replicas acknowledged after that; entries that were never acknowledged may now be committed',
    'start it without --initial-cluster, then add new members with empty directories; never restart the old members',
    '',
  ].join('\n');
}

async function mustNotExist(file: string): Promise<void> {
  const there = await stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  if (there) throw new CliError(`${file} already exists; choose another file name`);
}

function members(text: string | undefined, name: string): { name: string; peerUrl: string }[] {
  if (text === undefined) return [{ name, peerUrl: 'https://127.0.0.1:6480' }];
  const list = text.split(',').map((entry) => {
    const at = entry.indexOf('=');
    const peerUrl = entry.slice(at + 1);
    if (at <= 0 || !/^https:\/\/[^\s/?#]+:\d+$/.test(peerUrl)) {
      throw new UsageError(
        `--initial-cluster: want name=https://host:port,..., got ${JSON.stringify(entry)}`,
      );
    }
    return { name: entry.slice(0, at), peerUrl };
  });
  if (!list.some((member) => member.name === name)) {
    throw new UsageError(`--initial-cluster: does not name this replica, --member-name ${name}`);
  }
  return list;
}
