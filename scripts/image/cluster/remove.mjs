/**
 * Before a StatefulSet shrinks: removes the members whose pods will be deleted, the highest ordinal
 * first. If one of them is the leader, moves leadership to a remaining member first.
 */
import { CommandError, flags, members, orchctl, run, say, until, wholeNumber } from './command.mjs';

await run(async () => {
  const values = flags(['replicas', 'member-prefix', 'timeout-seconds']);
  const replicas = wholeNumber(values, 'replicas');
  const prefix = values['member-prefix'];
  const timeoutMs = wholeNumber(values, 'timeout-seconds') * 1000;
  const stays = (name) => !name.startsWith(prefix) || ordinal(name, prefix) < replicas;
  await until(
    timeoutMs,
    async () => {
      const all = [...(await members()).values()];
      const leaving = all
        .filter(({ name }) => !stays(name))
        .sort((a, b) => ordinal(b.name, prefix) - ordinal(a.name, prefix));
      if (leaving.length === 0) return true;
      await moveLeaderAway(all, stays);
      for (const { name } of leaving) {
        say((await orchctl(['cluster', 'remove-member', name])).trim());
      }
      return true;
    },
    'the cluster did not respond',
  );
  say(`no member beyond ${replicas} replicas`);
});

async function moveLeaderAway(all, stays) {
  const leader = all.find(({ role }) => role === 'leader');
  if (!leader) throw new CommandError('the cluster has no leader');
  if (stays(leader.name)) return;
  const next = all.find(({ name, role }) => role === 'follower' && stays(name));
  if (!next) throw new CommandError('no remaining follower can become leader');
  say((await orchctl(['cluster', 'move-leader', next.name])).trim());
}

function ordinal(name, prefix) {
  const number = Number(name.slice(prefix.length));
  return Number.isInteger(number) ? number : -1;
}
