import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addressBlock, isClearOf, nodePodCidr, replicaPorts } from './address-block.js';
import {
  type ClusterConfig,
  checkDialect,
  checkDirectory,
  checkReplicas,
  hasCluster,
  readSettings,
} from './cluster-directory.js';
import { claimIndex, type IndexClaims, renewIndex } from './cluster-index.js';
import { UserError } from './user-error.js';

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'orch-up-'));
});
afterEach(() => rmSync(scratch, { recursive: true }));

describe('a data directory', () => {
  it('is accepted when missing or empty, and rejected unchanged when it has other content', () => {
    expect(() => checkDirectory(join(scratch, 'a/b'))).not.toThrow();
    expect(() => checkDirectory(scratch)).not.toThrow();
    writeFileSync(join(scratch, 'thesis.txt'), 'years');
    expect(() => checkDirectory(scratch)).toThrow(/contains other files \(thesis.txt\)/);
    expect(() => checkDirectory(join(scratch, 'thesis.txt'))).toThrow(/not a directory/);
    const below = () => checkDirectory(join(scratch, 'thesis.txt/x'));
    expect(below).toThrow(UserError);
    expect(below).toThrow(/thesis\.txt is not a directory\)/);
    expect(readdirSync(scratch)).toEqual(['thesis.txt']);
  });

  it('rejects another dialect', () => {
    const stored = { dialect: 'orch' } as ClusterConfig;
    expect(() => checkDialect(scratch, stored, { dialect: 'kubernetes' })).toThrow(
      /--dialect orch and cannot change it/,
    );
    expect(() => checkDialect(scratch, stored, { dialect: 'orch' })).not.toThrow();
    expect(() => checkDialect(scratch, stored, {})).not.toThrow();
  });
});

describe('a stored cluster', () => {
  it('rejects another number of API servers, and names the commands that add and remove members', () => {
    const stored = { replicaCount: 3 } as ClusterConfig;
    expect(() => checkReplicas(scratch, stored, { replicaCount: 1 })).toThrow(
      /--replicas 3; omit --replicas 1.*cluster add-member/,
    );
    expect(() => checkReplicas(scratch, stored, { replicaCount: 3 })).not.toThrow();
    expect(() => checkReplicas(scratch, stored, {})).not.toThrow();
  });

  it('of an earlier version is rejected with a remedy, and can still be stopped', () => {
    writeFileSync(join(scratch, 'cluster.json'), JSON.stringify({ formatVersion: 1, port: 6443 }));
    expect(() => readSettings(scratch)).toThrow(/created by an earlier version.*choose another/);
    expect(hasCluster(scratch)).toBe(true);
    writeFileSync(join(scratch, 'cluster.json'), JSON.stringify({ formatVersion: 3 }));
    expect(() => readSettings(scratch)).toThrow(/another version of orchctl/);
  });
});

describe('cluster indexes', () => {
  const indexes = new Map<string, number>();
  const claims = (): IndexClaims => ({
    directory: join(scratch, 'claims'),
    indexOf: (dataDirectory) => indexes.get(dataDirectory),
  });
  async function create(dataDirectory: string): Promise<number> {
    const index = await claimIndex(claims(), dataDirectory, true);
    indexes.set(dataDirectory, index);
    return index;
  }
  beforeEach(() => {
    indexes.clear();
    mkdirSync(join(scratch, 'claims'));
  });

  it('differ between clusters, and are reused when a cluster is removed', async () => {
    const first = await create('/data/a');
    expect(await create('/data/b')).toBeGreaterThan(first);
    expect(await claimIndex(claims(), '/data/a', true)).toBe(first);
    indexes.set('/data/a', 63);
    expect(await create('/data/c')).toBe(first);
  });

  it('are not assigned twice when a copy of a cluster starts', async () => {
    const index = await create('/data/a');
    expect(() => renewIndex(claims(), '/data/copy', index)).toThrow(/in use by \/data\/a/);
    expect(() => renewIndex(claims(), '/data/a', index)).not.toThrow();
  });
});

describe('address blocks', () => {
  it('do not overlap in networks or ports', () => {
    const seen = new Set<string | number>();
    for (let index = 0; index < 64; index += 1) {
      const block = addressBlock(index, true);
      const { ports } = block;
      const parts = [block.serviceCidr, block.podCidr, block.nodePortRange];
      const numbers = [ports.controllerManager, ports.scheduler, ports.proxy];
      numbers.push(...replicaPorts(block, 5));
      for (let node = 0; node < 100; node += 1) numbers.push(ports.nodes + node);
      for (const part of [...parts, ...numbers]) {
        expect(seen.has(part)).toBe(false);
        seen.add(part);
      }
    }
    expect(addressBlock(0, true)).toMatchObject({
      serviceCidr: '10.96.0.0/16',
      nodePortRange: '30000-32767',
    });
    expect(addressBlock(1, false).serviceCidr).toBe('127.97.0.0/16');
    expect(nodePodCidr(addressBlock(2, true), 3)).toBe('10.162.3.0/24');
  });

  it('avoid the networks of the machine', () => {
    expect(isClearOf(addressBlock(0, true), new Set([96]))).toBe(false);
    expect(isClearOf(addressBlock(0, false), new Set([96]))).toBe(true);
    expect(isClearOf(addressBlock(0, false), new Set([160]))).toBe(false);
  });
});
