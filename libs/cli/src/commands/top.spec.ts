import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dialect, singleKubeconfig, writeKubeconfig } from '@orch/component';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Io } from '../command-line/io.js';
import { CommandRun } from '../session/command-context.js';
import { configureTop } from './top.js';

const group = dialect().group('metrics');
const pod = {
  metadata: { name: 'web', namespace: 'default' },
  containers: [{ name: 'main', usage: { cpu: '250m', memory: '64Mi' } }],
};

describe('top', () => {
  let directory: string;
  let kubeconfig: string;
  let server: Server;
  /** Bodies by path and query. */
  let served: Record<string, object>;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orchctl-top-'));
    kubeconfig = join(directory, 'kubeconfig');
    const groups = [{ name: group, versions: [{ version: 'v1beta1' }] }];
    served = {
      '/apis': { groups },
      '/api/v1': {
        resources: [{ name: 'pods', kind: 'Pod', namespaced: true, verbs: ['get', 'list'] }],
      },
    };
    server = createServer(({ url = '' }, response) => {
      const body = served[url];
      response.statusCode = body ? 200 : 404;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(body ?? { kind: 'Status', reason: 'NotFound', message: url }));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const names = { clusterName: 'c', userName: 'u', certificateAuthorityPem: '' };
    writeKubeconfig(
      kubeconfig,
      singleKubeconfig({ ...names, servers: [`http://127.0.0.1:${port}`] }),
    );
  });

  afterEach(async () => {
    await new Promise((done) => server.close(done));
    rmSync(directory, { recursive: true });
  });

  async function top(...args: string[]): Promise<[number, string, string]> {
    let output = '';
    let errors = '';
    const io = {
      out(text: string) {
        output += text;
      },
      err(text: string) {
        errors += text;
      },
    } as unknown as Io;
    const context = new CommandRun(io, () => ({ kubeconfig }));
    const command = new Command('top').exitOverride();
    configureTop(command, context);
    let code = 0;
    try {
      await command.parseAsync(args, { from: 'user' });
    } catch (error) {
      code = await context.report(error);
    }
    await context.close();
    return [code, output, errors];
  }

  it('prints the pods of the namespace, or the selected ones', async () => {
    const path = `/apis/${group}/v1beta1/namespaces/default/pods`;
    served[path] = { items: [pod] };
    served[`${path}?labelSelector=app%3Dweb`] = { items: [] };
    expect(await top('pods')).toEqual([
      0,
      'NAME   CPU(cores)   MEMORY(bytes)\nweb    250m         64Mi\n',
      '',
    ]);
    const [, output] = await top('pod', '--containers', '--no-headers');
    expect(output).toBe('web   main   250m   64Mi\n');
    served['/api/v1/namespaces/default/pods?labelSelector=app%3Dweb&limit=500'] = {
      metadata: {},
      items: [],
    };
    const none = 'No resources found in default namespace.\n';
    expect(await top('pods', '-l', 'app=web')).toEqual([0, '', none]);
  });

  it('reports pods that have no metrics yet', async () => {
    served[`/apis/${group}/v1beta1/pods`] = { items: [] };
    served['/api/v1/pods?limit=500'] = { metadata: {}, items: [pod] };
    const [code, , errors] = await top('pods', '-A');
    expect([code, errors]).toEqual([1, expect.stringContaining('no metrics yet')]);
  });

  it('reports a server without metrics', async () => {
    served['/apis'] = { groups: [] };
    const [code, , errors] = await top('nodes');
    expect([code, errors]).toEqual([1, expect.stringContaining('no metrics server is installed')]);
  });

  it.each([
    [['pods', 'web', '-A'], 'by name across all namespaces'],
    [['pods', 'web', '-l', 'a=b'], 'selectors may not be given together with names'],
    [['nodes', '--sort-by', 'disk'], 'want cpu or memory, got disk'],
  ])('rejects %j', async (args, message) => {
    const [code, output, errors] = await top(...args);
    expect([code, output, errors]).toEqual([2, '', expect.stringContaining(message)]);
  });
});
