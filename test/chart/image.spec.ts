/** The image archive: its layout, and that its programs run with the files of the image only. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stablePort } from '../chaos/support/ports.js';
import { must, run } from '../e2e/support/process.js';
import { eventually } from '../e2e/support/wait.js';

const directory = mkdtempSync(join(tmpdir(), 'orch-image-'));
const archive = join(directory, 'image.tar');
const layout = join(directory, 'layout');
const root = join(directory, 'root');
const builder = ['scripts/image/build.mjs', '--tree', 'dist', '--name', 'registry.example/orch:1'];

interface Descriptor {
  readonly digest: string;
  readonly size: number;
  readonly mediaType: string;
}

interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

const blobPath = ({ digest }: Descriptor) => join(layout, 'blobs', digest.replace(':', '/'));
const json = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;

let manifest: Manifest;
let manifests: (Descriptor & { annotations: Record<string, string> })[];
beforeAll(async () => {
  await must('node', [...builder, '--output', archive]);
  mkdirSync(layout);
  await must('tar', ['-xf', archive, '-C', layout]);
  ({ manifests } = json<{ manifests: typeof manifests }>(join(layout, 'index.json')));
  manifest = json(blobPath(manifests[0]!));
  mkdirSync(root);
  for (const layer of manifest.layers) await must('tar', ['-xzf', blobPath(layer), '-C', root]);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/**
 * The command that runs a program with the image as root directory, as this user but without files
 * of the host.
 */
function inside(args: readonly string[]): readonly [string, string[]] {
  const isRoot = process.getuid?.() === 0;
  const enter = isRoot ? ['chroot', root] : ['unshare', '--map-root-user', 'chroot', root];
  return [enter[0]!, [...enter.slice(1), ...args]];
}

describe('the archive', () => {
  it('has every blob under its hash, and lists them with their sizes', () => {
    expect(json(join(layout, 'oci-layout'))).toEqual({ imageLayoutVersion: '1.0.0' });
    const named = [manifests[0]!, manifest.config, ...manifest.layers];
    for (const descriptor of named) {
      const content = readFileSync(blobPath(descriptor));
      const hash = createHash('sha256').update(content).digest('hex');
      expect(descriptor).toMatchObject({ digest: `sha256:${hash}`, size: content.length });
    }
    expect(readdirSync(join(layout, 'blobs/sha256'))).toHaveLength(named.length);
    expect(manifests[0]!.annotations['io.containerd.image.name']).toBe('registry.example/orch:1');
  });

  it('has the user, the entry point and the hashes of the layers', async () => {
    const { config, rootfs } = json<{
      config: Record<string, unknown>;
      rootfs: { diff_ids: string[] };
    }>(blobPath(manifest.config));
    expect(config).toMatchObject({ User: '65532:65532', Entrypoint: ['/opt/orch/bin/orchctl'] });
    for (const [i, layer] of manifest.layers.entries()) {
      const sum = await must('sh', ['-c', `gzip -dc "${blobPath(layer)}" | sha256sum`]);
      expect(`sha256:${sum.split(' ')[0]}`).toBe(rootfs.diff_ids[i]);
    }
  });

  it('has equal bytes for equal trees', async () => {
    const again = join(directory, 'again.tar');
    await must('node', [...builder, '--output', again]);
    expect(readFileSync(again).equals(readFileSync(archive))).toBe(true);
  });

  it('contains no tests, types, development tools or shell', () => {
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
    expect(files).toContain('opt/orch/cluster/prepare.mjs');
    expect(files.filter((file) => /\.spec\.[cm]?js$|\.d\.ts$|\.map$/.test(file))).toEqual([]);
    const development = /node_modules\/(?:vitest|typescript|@biomejs|esbuild|@swc\/core)\//;
    expect(files.filter((file) => development.test(file))).toEqual([]);
    expect(files.filter((file) => /^(?:usr\/)?bin\/(?:ba|da)?sh$/.test(file))).toEqual([]);
    expect(statSync(join(root, 'tmp')).mode & 0o7777).toBe(0o1777);
  });
});

describe('in the image', () => {
  it.each(['orch-apiserver', 'orch-controller-manager', 'orch-scheduler', 'orch-node-agent'])(
    '%s runs',
    async (program) => {
      const [command, args] = inside([`/opt/orch/bin/${program}`, '--version']);
      expect(await must(command, args)).toContain(program);
    },
  );

  it('orchctl runs, and so do the programs of the chart', async () => {
    const [command, args] = inside(['/opt/orch/bin/orchctl', 'version', '--client']);
    expect(await must(command, args)).toMatch(/^Client Version: \d/);
    const script = inside(['/usr/bin/node', '/opt/orch/cluster/promote.mjs', '--replicas=3']);
    expect((await run(...script)).stderr).toBe('--member-prefix is needed\n');
  });

  it('the API server stores data, serves, and exits on SIGTERM', async () => {
    const port = await stablePort();
    const [command, args] = inside([
      ...['/opt/orch/bin/orch-apiserver', '--data-dir=/tmp/data', '--bind-address=127.0.0.1'],
      `--secure-port=${port}`,
    ]);
    // `chroot` replaces itself with the server, so the signal below reaches it.
    const server = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const ended = new Promise((done) => server.once('exit', done));
    const agent = new Agent({ connect: { rejectUnauthorized: false } });
    try {
      await eventually('the server to be ready', async () => {
        const answer = await fetch(`https://127.0.0.1:${port}/readyz`, { dispatcher: agent });
        return (await answer.text()) === 'ok';
      });
    } finally {
      await agent.close();
      server.kill('SIGTERM');
    }
    expect(await ended).toBe(0);
    expect(readdirSync(join(root, 'tmp/data'))).toContain('state');
  });
});
