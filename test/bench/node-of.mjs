/** The Node that a checkout runs on, and its environment. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const installed = 'node_modules/.bin';

/**
 * The Node that the lock file of the checkout `tree` names; of one that names none, the first of
 * PATH that no checkout installed.
 */
export function nodeOf(tree) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const others = folders.filter((folder) => !folder.endsWith(installed));
  const candidates = [join(tree, installed), ...others].map((folder) => join(folder, 'node'));
  return candidates.find(existsSync) ?? process.execPath;
}

/** The environment in which `up` of the built checkout `tree` runs Node. */
export async function nodeEnvironmentOf(tree) {
  const file = join(tree, 'dist/libs/cli/src/up/processes/node-environment.js');
  if (!existsSync(file)) return process.env;
  const { nodeEnvironment } = await import(pathToFileURL(file));
  return nodeEnvironment();
}
