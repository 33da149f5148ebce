/** Finds banned phrases in files, for `scripts/language.mjs` and `test/unit/language.spec.ts`. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allowed, phrases } from './phrases.mjs';
import { proseOf } from './prose.mjs';

const checked = /\.(?:ts|mjs|md|proto|ya?ml|tpl)$/;
/** Generated, recorded, or not English. */
const skipped = [
  /(?:^|\/)generated\//,
  /^docs\/api\//,
  /^test\/conformance\/(?:cases|facts|scheduling|webhooks)\//,
  /^test\/conformance\/(?:replay|decisions|scheduling|verdicts|webhooks)\.mjs$/,
  /^scripts\/language\/phrases\.mjs$/,
];

/** The files that hold prose, relative to the repository; of `folders` only, if there are any. */
export function prosePaths(root, folders = []) {
  const command = ['ls-files', '-co', '--exclude-standard', '--', ...folders];
  return execFileSync('git', command, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })
    .split('\n')
    .filter((path) => checked.test(path) && !skipped.some((pattern) => pattern.test(path)))
    .filter((path) => existsSync(join(root, path)));
}

export function findingsIn(root, paths) {
  return paths.flatMap((path) => findingsOf(path, readFileSync(join(root, path), 'utf8')));
}

/** @returns {{ path: string, line: number, found: string, advice: string }[]} */
export function findingsOf(path, text) {
  const findings = [];
  for (const prose of proseOf(path, text)) {
    for (const { pattern, advice, unless } of phrases) {
      for (const match of prose.text.matchAll(pattern)) {
        const rest = prose.text.slice(match.index, match.index + 200);
        if (unless?.test(rest) || isAllowed(path, rest)) continue;
        const line = prose.line + prose.text.slice(0, match.index).split('\n').length - 1;
        findings.push({ path, line, found: match[0].replace(/\s+/g, ' '), advice });
      }
    }
  }
  return findings.sort((a, b) => a.line - b.line);
}

function isAllowed(path, rest) {
  return allowed.some((use) => use.path.test(path) && use.text.test(rest));
}

export function textOf({ path, line, found, advice }) {
  return `${path}:${line}: "${found}": write ${advice}`;
}
