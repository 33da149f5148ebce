/**
 * Builds the container image as an OCI archive from the built tree, without a container engine:
 *
 *   npm run image -- [--output FILE] [--name REPOSITORY:TAG] [--tree DIST]
 *   node scripts/image/build.mjs --app-directory DIR
 *
 * The second form only writes the files of /opt/orch into a directory, for the Dockerfile. Images
 * are for Linux and the architecture of this machine. Equal trees give equal archives.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { setupAndContinue } from '../setup.mjs';
import { addOnsOf, appLayer } from './app-layer.mjs';
import { writeArchive } from './oci-archive.mjs';
import { runtimeLayer, user } from './runtime-layer.mjs';

const root = resolve(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const architectures = { x64: 'amd64', arm64: 'arm64' };

const { values } = parseArgs({
  options: {
    output: { type: 'string' },
    name: { type: 'string', default: `orch:${version}` },
    tree: { type: 'string' },
    'app-directory': { type: 'string' },
  },
});

if (values.tree === undefined) await setupAndContinue();
const app = appLayer(root, resolve(values.tree ?? join(root, 'dist')));
if (values['app-directory'] === undefined) await buildArchive();
else writeFiles(app, resolve(values['app-directory']));

async function buildArchive() {
  const architecture = architectures[process.arch];
  if (process.platform !== 'linux' || !architecture) {
    throw new Error(
      `images can be built on Linux x64 and arm64 only; this is ${process.platform} ${process.arch}`,
    );
  }
  const output = resolve(
    values.output ?? join(root, `.cache/image/orch-${version}-${architecture}.tar`),
  );
  mkdirSync(dirname(output), { recursive: true });
  const digest = await writeArchive(output, {
    layers: [runtimeLayer(addOnsOf(app)), app],
    config: {
      User: `${user.id}:${user.id}`,
      Env: ['PATH=/opt/orch/bin:/usr/bin', 'NODE_ENV=production'],
      WorkingDir: '/',
      Entrypoint: ['/opt/orch/bin/orchctl'],
    },
    name: values.name,
    architecture,
    labels: {
      'org.opencontainers.image.title': 'orch',
      'org.opencontainers.image.version': version,
    },
  });
  process.stdout.write(`${output}\n${values.name} ${digest}\n`);
}

function writeFiles(entries, directory) {
  for (const { path, mode, content, source } of entries) {
    const to = join(directory, path);
    mkdirSync(dirname(to), { recursive: true });
    if (content) writeFileSync(to, content, { mode });
    else cpSync(source, to);
  }
}
