/**
 * Assigns each cluster of this machine an unused index. A claim is a file that names the cluster's
 * directory. It is valid while the `cluster.json` in that directory has the same index, so removing
 * a cluster frees its index.
 */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '@orch/component';
import {
  type AddressBlock,
  addressBlock,
  isClearOf,
  portsOfBlock,
  usedSecondOctets,
} from './address-block.js';
import { clusterCountMax } from './limits.js';
import { portProblem } from './port-problem.js';
import { UserError } from './user-error.js';

/** Default directory of the claims, shared by all users of the machine. */
export const claimsDirectory = '/tmp/orch-clusters';
/** A claim is valid for this long before its `cluster.json` is written. */
const youngClaimMs = 60_000;

export interface IndexClaims {
  readonly directory: string;
  /** The index in the `cluster.json` of a data directory. Undefined if there is none. */
  readonly indexOf: (dataDirectory: string) => number | undefined;
}

/** Claims a free index for a new cluster. */
export async function claimIndex(
  claims: IndexClaims,
  dataDirectory: string,
  withRoot: boolean,
): Promise<number> {
  prepare(claims);
  const octets = usedSecondOctets();
  for (let index = 0; index < clusterCountMax; index += 1) {
    const block = addressBlock(index, withRoot);
    if (!isClearOf(block, octets) || !(await portsAreFree(block))) continue;
    if (claim(claims, dataDirectory, index)) return index;
  }
  throw new UserError(
    `no address block is free for another cluster, at most ${clusterCountMax}; remove the data directory of a cluster listed in ${claims.directory}`,
  );
}

/**
 * Renews the claim of an existing cluster. Throws `UserError` if another cluster has claimed its
 * index.
 */
export function renewIndex(claims: IndexClaims, dataDirectory: string, index: number): void {
  prepare(claims);
  if (claim(claims, dataDirectory, index)) return;
  throw new UserError(
    `the addresses of ${dataDirectory} (block ${index}) are in use by ${holderOf(claims, index)}; remove one of the two data directories`,
  );
}

/** Whether no other program listens on a port of the block. */
async function portsAreFree(block: AddressBlock): Promise<boolean> {
  for (const port of portsOfBlock(block)) {
    if ((await portProblem(port, '127.0.0.1')) !== undefined) return false;
  }
  return true;
}

function prepare(claims: IndexClaims): void {
  if (mkdirSync(claims.directory, { recursive: true })) chmodSync(claims.directory, 0o1777);
}

function claim(claims: IndexClaims, dataDirectory: string, index: number): boolean {
  const path = join(claims.directory, String(index));
  const holder = holderOf(claims, index);
  if (holder === dataDirectory) return true;
  if (holder !== undefined) return false;
  try {
    if (existsSync(path)) unlinkSync(path);
    writeFileSync(path, dataDirectory, { flag: 'wx', mode: 0o644 });
    return true;
  } catch (error) {
    // Another process has just claimed it, or the file belongs to another user.
    if (isTaken(errorCode(error))) return false;
    throw error;
  }
}

function isTaken(code: unknown): boolean {
  return code === 'EEXIST' || code === 'ENOENT' || code === 'EPERM' || code === 'EACCES';
}

/** The data directory with a valid claim for an index. */
function holderOf(claims: IndexClaims, index: number): string | undefined {
  const path = join(claims.directory, String(index));
  try {
    const holder = readFileSync(path, 'utf8');
    const isYoung = Date.now() - statSync(path).mtimeMs < youngClaimMs;
    const holds = claims.indexOf(holder);
    if (holds === index || (holds === undefined && isYoung)) return holder;
    return undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
