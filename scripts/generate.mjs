/**
 * Generates code and pages from `proto`: TypeScript interfaces and descriptors from
 * `proto/orch/api` in `libs/apimachinery/src/generated`, descriptors or codecs from `wireProtos` in
 * their libraries, and the resources of `libs/client` and the pages of `docs/api` from the
 * definitions of the kinds. The output depends on the repository only, so `--check` can verify that
 * it is up to date. Runs on a clean clone: generates the types before it loads the product's own
 * code.
 *
 * Usage: node scripts/generate.mjs [--check]
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import protobuf from 'protobufjs';
import { clientResourcesSource } from './generate/client-resources.mjs';
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
const clientDirectory = join(root, 'libs/client/src/generated');
/** The protocols between processes: proto, generated module and generator. */
const wireProtos = [
  ['orch/etcd/v3.proto', 'libs/store/src/generated/etcd-v3.ts', wireDescriptorSource],
  ['orch/kms/v1beta1.proto', 'libs/security/src/generated/kms-v1beta1.ts', wireDescriptorSource],
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

/** Existing files in a directory of generated files. */
function existing(directory, ending) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(directory, path));
}

/** Like `generate`, with paths relative to the repository. */
function generateWire() {
  return wireProtos.map(([path, target, source]) => [
    join(root, target),
    source(path, readFileSync(join(protoDirectory, path), 'utf8')),
  ]);
}

const isCheck = process.argv.includes('--check');
const staleNames = [];
let fileCount = 0;

/**
 * Writes the files that differ, or only lists them. `files`: path to text; `others`: files to
 * remove unless they are generated.
 */
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
bring(
  new Map([[join(clientDirectory, 'resources.ts'), await clientResourcesSource(root)]]),
  existing(clientDirectory, '.ts'),
);
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
