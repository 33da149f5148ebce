#!/usr/bin/env node
/** The command `orchctl` of this checkout. */
import { existsSync } from 'node:fs';
import { orchctlMain } from '../../../scripts/setup.mjs';

if (!existsSync(orchctlMain)) {
  process.stderr.write('orchctl is not built yet; run: npm run setup\n');
  process.exit(1);
}
process.argv[1] = orchctlMain;
await import(orchctlMain);
