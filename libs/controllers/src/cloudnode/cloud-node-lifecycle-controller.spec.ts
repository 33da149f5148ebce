import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { cloudNodeLifecycleController } from './cloud-node-lifecycle-controller.js';

describe('cloudNodeLifecycleController', () => {
  let directory: string;
  let harness: ControllerHarness;
  const seed = (name: string, ready?: 'True' | 'Unknown') =>
    harness.server.seed(resources.nodes, {
      ...harness.server.get(resources.nodes, name),
      metadata: { ...harness.server.get(resources.nodes, name)?.metadata, name },
      status: { conditions: ready ? [{ type: 'Ready', status: ready }] : [] },
    });
  const taints = (name: string) =>
    harness.server.get(resources.nodes, name)?.spec?.taints?.map(({ key }) => key) ?? [];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-machines-'));
    const file = join(directory, 'pool.yaml');
    writeFileSync(file, 'machines: [{name: listed}, {name: asleep, shutDown: true}]');
    const flags = ['--cloud-provider=pool', `--cloud-config=${file}`];
    harness = new ControllerHarness([cloudNodeLifecycleController], { flags });
    for (const name of ['listed', 'asleep', 'unlisted']) seed(name, 'True');
    seed('new');
    await harness.start();
  });
  afterEach(async () => {
    await harness.stop();
    rmSync(directory, { recursive: true });
  });

  it('leaves nodes alone that are ready or have not reported yet', async () => {
    await harness.advance(20_000);
    expect(harness.names(resources.nodes)).toEqual(['asleep', 'listed', 'new', 'unlisted']);
    expect(harness.server.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('deletes a lost node without a machine, and no other', async () => {
    for (const name of ['listed', 'asleep', 'unlisted']) seed(name, 'Unknown');
    await harness.advance(6_000);
    expect(harness.names(resources.nodes)).toEqual(['asleep', 'listed', 'new']);
    expect(harness.events()).toEqual([
      'DeletingNode: Deleting node unlisted because it does not exist in the cloud provider',
    ]);
  });

  it('taints a node whose machine is shut down until it is ready again', async () => {
    seed('asleep', 'Unknown');
    await harness.advance(6_000);
    expect(taints('asleep')).toEqual(['node.cloudprovider.orch.io/shutdown']);
    seed('asleep', 'True');
    await harness.advance(6_000);
    expect(taints('asleep')).toEqual([]);
  });
});
