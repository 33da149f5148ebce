import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addressBlock, isClearOf, nodePodCidr, replicaPorts } from './address-block.js';
import {
  type ClusterSettings,
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
  it('is taken when missing or empty, and refused unchanged when it holds something else', () => {
    expect(() => checkDirectory(join(scratch, 'a/b'))).not.toThrow();
    expect(() => checkDirectory(scratch)).not.toThrow();
    writeFileSync(join(scratch, 'thesis.txt'), 'years');
    expect(() => checkDirectory(scratch)).toThrow(/holds something else \(thesis.txt\)/);
    expect(() => checkDirectory(join(scratch, 'thesis.txt'))).toThrow(/not a directory/);
    const below = () => checkDirectory(join(scratch, 'thesis.txt/x'));
    expect(below).toThrow(UserError);
    expect(below).toThrow(/thesis\.txt is not a directory\)/);
    expect(readdirSync(scratch)).toEqual(['thesis.txt']);
  });

  it('keeps its dialect', () => {
    const kept = { dialect: 'orch' } as ClusterSettings;
    expect(() => checkDialect(scratch, kept, { dialect: 'kubernetes' })).toThrow(
      /--dialect orch and keeps it/,
    );
    expect(() => checkDialect(scratch, kept, { dialect: 'orch' })).not.toThrow();
    expect(() => checkDialect(scratch, kept, {})).not.toThrow();
  });
});

describe('a kept cluster', () => {
  it('keeps its number of API servers, and says how members come and go', () => {
    const kept = { replicaCount: 3 } as ClusterSettings;
    expect(() => checkReplicas(scratch, kept, { replicaCount: 1 })).toThrow(
      /--replicas 3; leave --replicas 1 out.*cluster add-member/,
    );
    expect(() => checkReplicas(scratch, kept, { replicaCount: 3 })).not.toThrow();
    expect(() => checkReplicas(scratch, kept, {})).not.toThrow();
  });

  it('of an earlier version is refused with what to do, and can still be stopped', () => {
    writeFileSync(join(scratch, 'cluster.json'), JSON.stringify({ formatVersion: 1, port: 6443 }));
    expect(() => readSettings(scratch)).toThrow(/made by an earlier version.*choose another/);
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

  it('differ between clusters, and come back when a cluster is removed', async () => {
    const first = await create('/data/a');
    expect(await create('/data/b')).toBeGreaterThan(first);
    expect(await claimIndex(claims(), '/data/a', true)).toBe(first);
    indexes.set('/data/a', 63);
    expect(await create('/data/c')).toBe(first);
  });

  it('are not given to two when a copy of a cluster starts', async () => {
    const index = await create('/data/a');
    expect(() => renewIndex(claims(), '/data/copy', index)).toThrow(/in use by \/data\/a/);
    expect(() => renewIndex(claims(), '/data/a', index)).not.toThrow();
  });
});

describe('address blocks', () => {
  it('never share a network or a port', () => {
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

  it('keep clear of networks the machine has', () => {
    expect(isClearOf(addressBlock(0, true), new Set([96]))).toBe(false);
    expect(isClearOf(addressBlock(0, false), new Set([96]))).toBe(true);
    expect(isClearOf(addressBlock(0, false), new Set([160]))).toBe(false);
  });
});
