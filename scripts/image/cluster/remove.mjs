/**
 * Before a StatefulSet shrinks: removes the members whose pods will go, the highest ordinal first. If one of
 * them leads, the lead is given to one that stays before anything is removed.
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
    'the cluster did not answer',
  );
  say(`no member beyond ${replicas} replicas`);
});

async function moveLeaderAway(all, stays) {
  const leader = all.find(({ role }) => role === 'leader');
  if (!leader) throw new CommandError('the cluster has no leader now');
  if (stays(leader.name)) return;
  const next = all.find(({ name, role }) => role === 'follower' && stays(name));
  if (!next) throw new CommandError('no follower that stays could take over the lead now');
  say((await orchctl(['cluster', 'move-leader', next.name])).trim());
}

function ordinal(name, prefix) {
  const number = Number(name.slice(prefix.length));
  return Number.isInteger(number) ? number : -1;
}
