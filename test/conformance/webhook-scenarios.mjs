/**
 * Replays the recorded webhook scenarios. The groups need different flags; groups with the same
 * flags share a server. The scenarios run in `webhooks.mjs`, which is the other end of the webhooks
 * and creates the keys and kubeconfigs that the flags name.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, runTool, startServer } from './processes.mjs';
import { ownAddress } from './webhooks.mjs';

const tool = 'webhooks.mjs';
const scenarios = join(import.meta.dirname, 'webhooks');

/** The groups that are replayed. */
export const webhookGroups = [
  'admission',
  'conversion',
  'audit',
  'access',
  'access-v1',
  'aggregation',
];

/**
 * Returns the result of each scenario, with its group as the area, and the output of the tool.
 * `only`: a pattern of `group/name`.
 */
export async function replayWebhooks(directory, dialect, only) {
  const results = [];
  const outputs = [];
  for (const { groups, flags } of serversOf(only)) {
    const folder = join(directory, `webhooks-${groups[0]}`);
    const { results: ran, output } = await replayOn(folder, { dialect, groups, flags, only });
    results.push(...ran);
    outputs.push(output);
  }
  return { results, output: outputs.join('') };
}

/** The groups with a matching scenario, by the flags that their server needs. */
function serversOf(only) {
  const byFlags = new Map();
  for (const group of webhookGroups) {
    const files = readdirSync(join(scenarios, group)).filter(
      (file) => !only || new RegExp(only).test(`${group}/${file.replace(/\.json$/, '')}`),
    );
    if (files.length === 0) continue;
    const { flags = [] } = JSON.parse(readFileSync(join(scenarios, group, files[0]), 'utf8'));
    const key = JSON.stringify(flags);
    const same = byFlags.get(key);
    if (same) same.groups.push(group);
    else byFlags.set(key, { flags, groups: [group] });
  }
  return [...byFlags.values()];
}

async function replayOn(folder, { dialect, groups, flags, only }) {
  mkdirSync(folder);
  const keys = join(folder, 'keys');
  const json = join(folder, 'results.json');
  const paths = groups.map((group) => join(scenarios, group));
  const options = ['--keys', keys, '--port', String(await freePort()), '--dialect', dialect];
  options.push('--address', ownAddress() ?? '127.0.0.1');
  await runTool(tool, [...options, '--prepare', ...paths]);
  const own = flags.map((flag) => flag.replaceAll('$' + '{keys}', keys));
  const server = await startServer(folder, dialect, own);
  try {
    const filter = only ? ['--filter', only] : [];
    const args = [...options, '--server', server.url, '--json', json, ...filter, ...paths];
    const output = await runTool(tool, args);
    if (!existsSync(json)) throw new Error(`the webhook scenarios have no results:\n${output}`);
    const results = JSON.parse(readFileSync(json, 'utf8'));
    return { results: results.map(({ group, ...rest }) => ({ area: group, ...rest })), output };
  } catch (error) {
    throw new Error(`${error.message}\n${server.log()}`, { cause: error });
  } finally {
    await server.stop();
  }
}
