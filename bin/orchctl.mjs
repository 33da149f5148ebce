#!/usr/bin/env node
/** The command `orchctl` of this checkout. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const main = join(root, 'dist', 'apps', 'orchctl', 'src', 'main.js');
if (!existsSync(main)) {
  process.stderr.write('orchctl is not built yet; run: node scripts/setup.mjs\n');
  process.exit(1);
}
await import(pathToFileURL(main).href);
