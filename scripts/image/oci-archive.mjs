/**
 * An image as one archive in the OCI image layout: blobs named by their hash, and an index that
 * names the manifest. Equal layers and configuration give equal bytes. Source: image layout,
 * manifest and configuration of the OCI image specification, version 1.0.
 */
import { createHash } from 'node:crypto';
import { createWriteStream, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { tar } from './tar.mjs';

const media = 'application/vnd.oci.image';

/**
 * Writes the archive and returns the digest of the manifest. `layers`: lists of entries, the lowest
 * first; `config`: the process (Entrypoint, Env, ...); `name`: `repository:tag`.
 */
export async function writeArchive(output, { layers, config, name, architecture, labels }) {
  const folder = mkdtempSync(join(dirname(output), '.image-'));
  try {
    const blobs = [];
    for (const [i, entries] of layers.entries()) {
      blobs.push(await layerBlob(entries, join(folder, `layer-${i}`)));
    }
    const created = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1000).toISOString();
    const configBlob = jsonBlob(`${media}.config.v1+json`, {
      created,
      architecture,
      os: 'linux',
      config: { ...config, Labels: labels },
      rootfs: { type: 'layers', diff_ids: blobs.map(({ diffId }) => diffId) },
      history: blobs.map(() => ({ created, created_by: 'scripts/image/build.mjs' })),
    });
    const manifest = jsonBlob(`${media}.manifest.v1+json`, {
      schemaVersion: 2,
      mediaType: `${media}.manifest.v1+json`,
      config: configBlob.descriptor,
      layers: blobs.map(({ descriptor }) => descriptor),
      annotations: labels,
    });
    const index = {
      schemaVersion: 2,
      mediaType: `${media}.index.v1+json`,
      manifests: [
        {
          ...manifest.descriptor,
          platform: { architecture, os: 'linux' },
          annotations: {
            'io.containerd.image.name': qualifiedName(name),
            'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
          },
        },
      ],
    };
    const entries = [
      json('oci-layout', { imageLayoutVersion: '1.0.0' }),
      json('index.json', index),
      ...[configBlob, manifest, ...blobs].map(blobEntry),
    ];
    const partial = join(folder, 'archive');
    await pipeline(tar(entries), createWriteStream(partial));
    renameSync(partial, output);
    return manifest.descriptor.digest;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The compressed layer as a file. `diffId` is the hash of the uncompressed layer. */
async function layerBlob(entries, file) {
  const plain = createHash('sha256');
  const packed = createHash('sha256');
  await pipeline(
    tar(entries),
    hashing(plain),
    createGzip({ level: 6 }),
    hashing(packed),
    createWriteStream(file),
  );
  const digest = `sha256:${packed.digest('hex')}`;
  const { size } = statSync(file);
  return {
    file,
    diffId: `sha256:${plain.digest('hex')}`,
    descriptor: { mediaType: `${media}.layer.v1.tar+gzip`, digest, size },
  };
}

function hashing(hash) {
  return async function* pass(chunks) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
}

function jsonBlob(mediaType, value) {
  const content = Buffer.from(JSON.stringify(value));
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  return { content, descriptor: { mediaType, digest, size: content.length } };
}

function blobEntry({ content, file, descriptor: { digest, size } }) {
  const path = `blobs/${digest.replace(':', '/')}`;
  return { path, type: 'file', mode: 0o644, ...(content ? { content } : { source: file, size }) };
}

function json(path, value) {
  return { path, type: 'file', mode: 0o644, content: Buffer.from(JSON.stringify(value)) };
}

/** The qualified name, as in container runtimes: a name without a registry is one of Docker Hub. */
function qualifiedName(name) {
  const [first, ...rest] = name.split('/');
  if (rest.length > 0 && /[.:]|^localhost$/.test(first)) return name;
  return `docker.io/${rest.length > 0 ? name : `library/${name}`}`;
}
