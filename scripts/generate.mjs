/**
 * Turns `proto/orch/api` into TypeScript interfaces and descriptors under
 * `libs/apimachinery/src/generated`, the protos of `wireProtos` into descriptors or codecs beside what
 * speaks them, and these with the definitions of the kinds into the pages of `docs/api`. The output depends
 * on what is in the repository alone, so that `--check` can say whether it is fresh. It runs on a clean
 * clone; only the pages load the product's own code, once the types it needs are there.
 *
 * Usage: node scripts/generate.mjs [--check]
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import protobuf from 'protobufjs';
import { descriptorIndexSource, descriptorSource } from './generate/descriptors.mjs';
import { readFile } from './generate/model.mjs';
import { referencePages } from './generate/reference.mjs';
import { shareDescriptions } from './generate/shared-descriptions.mjs';
import { typesSource } from './generate/types.mjs';
import { wireCodecSource } from './generate/wire-codecs.mjs';
import { wireDescriptorSource } from './generate/wire-descriptors.mjs';

const root = join(import.meta.dirname, '..');
const protoDirectory = join(root, 'proto');
const referenceDirectory = join(root, 'docs/api');
const outputDirectory = join(root, 'libs/apimachinery/src/generated');
/** What is spoken between processes: proto, the module that embeds it, and what writes that. */
const wireProtos = [
  ['orch/etcd/v3.proto', 'libs/store/src/generated/etcd-v3.ts', wireDescriptorSource],
  ['orch/raft/raft.proto', 'libs/raft/src/transport/generated/wire.ts', wireCodecSource],
];
const parseOptions = { keepCase: true, alternateCommentMode: true };

/** Paths of the API protos, sorted, relative to `proto`. */
function protoPaths() {
  return readdirSync(join(protoDirectory, 'orch/api'), { recursive: true })
    .filter((path) => path.endsWith('.proto'))
    .map((path) => `orch/api/${path}`)
    .sort();
}

/** All generated files: path relative to the output directory to text. */
function generate() {
  const optionsPath = join(protoDirectory, 'orch/schema/options.proto');
  const knownOptions = protobuf.parse(readFileSync(optionsPath, 'utf8'), parseOptions).root;
  const parsed = new protobuf.Root();
  const paths = protoPaths();
  const packages = paths.map((path) => {
    const source = readFileSync(join(protoDirectory, path), 'utf8');
    return protobuf.parse(source, parsed, { ...parseOptions, filename: path }).package;
  });
  parsed.addJSON(protobuf.common.get('google/protobuf/struct.proto').nested);
  parsed.resolveAll();
  const files = packages.map((name) => readFile(parsed.lookup(name), knownOptions));
  shareDescriptions(files);
  const output = new Map();
  for (const file of files) {
    output.set(`${file.name}.ts`, typesSource(file, files));
    output.set(`descriptors/${file.name.replace('/', '.')}.ts`, descriptorSource(file));
  }
  output.set('descriptors/index.ts', descriptorIndexSource(files));
  return output;
}

/** Files on disk below a directory that only holds generated ones. */
function existing(directory, ending) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(directory, path));
}

/** As `generate`, with paths relative to the repository. */
function generateWire() {
  return wireProtos.map(([path, target, source]) => [
    join(root, target),
    source(path, readFileSync(join(protoDirectory, path), 'utf8')),
  ]);
}

const isCheck = process.argv.includes('--check');
const staleNames = [];
let fileCount = 0;

/** Writes what differs, or only notes it. `files`: path to text; `others`: files that should not be there else. */
function bring(files, others) {
  const surplus = others.filter((path) => !files.has(path));
  const stale = [...files].filter(
    ([target, text]) => !existsSync(target) || readFileSync(target, 'utf8') !== text,
  );
  fileCount += files.size;
  staleNames.push(...[...stale.map(([target]) => target), ...surplus]);
  if (isCheck) return;
  for (const path of surplus) rmSync(path);
  for (const [target, text] of stale) {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}

const types = [...generate()].map(([path, text]) => [join(outputDirectory, path), text]);
bring(new Map([...types, ...generateWire()]), existing(outputDirectory, '.ts'));
const pages = [...(await referencePages(root))];
bring(
  new Map(pages.map(([path, text]) => [join(referenceDirectory, path), text])),
  existing(referenceDirectory, '.md'),
);

if (!isCheck) console.log(`${fileCount} files: ${staleNames.length} written or removed`);
else if (staleNames.length > 0) {
  const names = staleNames.map((path) => `  ${relative(root, path)}`);
  console.error(`stale, run npm run generate:\n${names.join('\n')}`);
  process.exitCode = 1;
}
