/**
 * Before a replica starts: how should it? Founders (the replicas of the first installation) found the cluster
 * together; every other one is added as a learner and joins. The decision is kept beside the data directory,
 * so that it is made once. Nothing is ever deleted but what an unfinished restore left.
 *
 * | data directory | the cluster says           | then                                                    |
 * | -------------- | -------------------------- | ------------------------------------------------------- |
 * | filled         | this name is a member      | start on it                                             |
 * | filled         | nothing                    | start on it                                             |
 * | filled         | this name is no member     | removed meanwhile: set the directory aside, add, join   |
 * | empty, founder | nothing, or it is a member | restore if asked to, and found the cluster              |
 * | empty, founder | this name is no member     | removed because its volume was lost: add, join          |
 * | empty, other   | (is waited for)            | add unless it is a member, join                         |
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandError, flags, members, orchctl, run, say, until, wholeNumber } from './command.mjs';

const joinTimeoutMs = 120_000;
const restoreTimeoutMs = 3_600_000;

await run(async () => {
  const values = flags(
    ['data-dir', 'member-name', 'peer-url', 'initial-replicas', 'state-file'],
    ['restore-file', 'initial-cluster', 'initial-cluster-token'],
  );
  const replica = {
    name: values['member-name'],
    peerUrl: values['peer-url'],
    dataDirectory: values['data-dir'],
    stateFile: values['state-file'],
    isFounder: ordinalOf(values['member-name']) < wholeNumber(values, 'initial-replicas'),
  };
  if (isFilled(replica.dataDirectory)) return continueOn(replica);
  const decided = decision(replica) === 'join';
  const removed = replica.isFounder && !decided && (await isRemoved(replica));
  if (replica.isFounder && !decided && !removed) {
    if (values['restore-file']) await restore(replica, values);
    return decide(replica, 'new', 'founds the cluster');
  }
  // Noted first: were this interrupted, the member would be there and its way of starting forgotten.
  decide(replica, 'join', 'joins the cluster');
  await until(joinTimeoutMs, () => add(replica), 'the cluster did not answer');
});

async function continueOn(replica) {
  if (await isRemoved(replica)) {
    // That it can be added proves that it is no member: a list may be old.
    await orchctl(addArguments(replica));
    const aside = join(dirname(replica.dataDirectory), 'removed');
    rmSync(aside, { recursive: true, force: true });
    renameSync(replica.dataDirectory, aside);
    say(`the member of this directory was removed: it is now ${aside}`);
    return decide(replica, 'join', 'joins the cluster');
  }
  if (decision(replica) === undefined) decide(replica, 'new', 'goes on');
  say(`${replica.name} goes on with its data`);
}

/** Whether a cluster answers that does not know this name. One attempt: at a cold start nobody answers. */
async function isRemoved({ name }) {
  try {
    return !(await members()).has(name);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    say(`no cluster answers: ${error.message}`);
    return false;
  }
}

async function add(replica) {
  if ((await members()).has(replica.name)) return true;
  say((await orchctl(addArguments(replica))).trim());
  return true;
}

function addArguments({ name, peerUrl }) {
  return ['cluster', 'add-member', name, `--peer-url=${peerUrl}`];
}

/** Into another directory first: half a restore must not be started on. */
async function restore({ dataDirectory, name }, values) {
  const unfinished = `${dataDirectory}.restoring`;
  rmSync(unfinished, { recursive: true, force: true });
  const args = [
    ...['cluster', 'snapshot', 'restore', values['restore-file']],
    ...[`--data-dir=${unfinished}`, `--member-name=${name}`],
    `--initial-cluster=${values['initial-cluster']}`,
    `--initial-cluster-token=${values['initial-cluster-token']}`,
  ];
  say((await orchctl(args, { timeoutMs: restoreTimeoutMs })).trim());
  rmSync(dataDirectory, { recursive: true, force: true });
  renameSync(unfinished, dataDirectory);
}

function ordinalOf(name) {
  const ordinal = /-(\d+)$/.exec(name)?.[1];
  if (ordinal === undefined) throw new CommandError(`--member-name: ${name} ends in no number`);
  return Number(ordinal);
}

function isFilled(directory) {
  return existsSync(directory) && readdirSync(directory).length > 0;
}

function decision({ stateFile }) {
  return existsSync(stateFile) ? readFileSync(stateFile, 'utf8').trim() : undefined;
}

function decide({ stateFile, name }, state, what) {
  mkdirSync(dirname(stateFile), { recursive: true });
  const partial = `${stateFile}.part`;
  writeFileSync(partial, `${state}\n`, { flush: true });
  renameSync(partial, stateFile);
  say(`${name} ${what}`);
}
