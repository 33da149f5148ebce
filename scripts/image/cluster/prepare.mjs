/**
 * Decides how a replica starts. Founders (the replicas of the first installation) bootstrap the
 * cluster together. Every other replica is added as a learner and joins. The decision is stored
 * beside the data directory, so that it never changes. Deletes nothing except the remains of an
 * unfinished restore.
 *
 * | data directory | report of the cluster         | action                                  |
 * | -------------- | ----------------------------- | --------------------------------------- |
 * | not empty      | this name is a member         | start with the data                     |
 * | not empty      | none                          | start with the data                     |
 * | not empty      | this name is not a member     | move the old directory aside, add, join |
 * | empty, founder | none, or the name is a member | restore if requested, bootstrap         |
 * | empty, founder | this name is not a member     | its volume was lost: add, join          |
 * | empty, other   | (waits for it)                | add unless it is a member, join         |
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
    return decide(replica, 'new', 'bootstraps the cluster');
  }
  // Stored first: after an interruption the member would exist without a decision.
  decide(replica, 'join', 'joins the cluster');
  await until(joinTimeoutMs, () => add(replica), 'the cluster did not respond');
});

async function continueOn(replica) {
  if (await isRemoved(replica)) {
    // A member list may be stale, but a successful addition proves that it was no member.
    await orchctl(addArguments(replica));
    const aside = join(dirname(replica.dataDirectory), 'removed');
    rmSync(aside, { recursive: true, force: true });
    renameSync(replica.dataDirectory, aside);
    say(`the member of this directory was removed: the directory is now ${aside}`);
    return decide(replica, 'join', 'joins the cluster');
  }
  if (decision(replica) === undefined) decide(replica, 'new', 'continues');
  say(`${replica.name} continues with its data`);
}

/**
 * Whether a cluster responds that has no member of this name. One attempt, because no server
 * responds at a cold start.
 */
async function isRemoved({ name }) {
  try {
    return !(await members()).has(name);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    say(`no cluster responds: ${error.message}`);
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

/** Restores into another directory first, so that no server starts on a partial restore. */
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
  if (ordinal === undefined)
    throw new CommandError(`--member-name: ${name} does not end in a number`);
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
