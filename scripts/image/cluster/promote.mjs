/**
 * After a StatefulSet has grown: waits until every replica is a member, and promotes learners to
 * voters when they have caught up. The server rejects a lagging learner, which is retried.
 */
import { flags, members, orchctl, run, say, until, wholeNumber } from './command.mjs';

await run(async () => {
  const values = flags(['replicas', 'member-prefix', 'timeout-seconds']);
  const replicas = wholeNumber(values, 'replicas');
  const wanted = Array.from({ length: replicas }, (_, i) => `${values['member-prefix']}${i}`);
  const timeoutMs = wholeNumber(values, 'timeout-seconds') * 1000;
  await until(
    timeoutMs,
    async (wait) => {
      const known = await members();
      const waiting = wanted.filter((name) => !isVoter(known.get(name)));
      if (waiting.length === 0) return true;
      wait(
        waiting.map((name) => `${name} is ${known.get(name)?.role ?? 'not a member'}`).join(', '),
      );
      // One at a time, because each promotion changes the quorum.
      const learner = waiting.find((name) => known.get(name)?.role === 'learner');
      if (learner) say((await orchctl(['cluster', 'promote', learner])).trim());
      return undefined;
    },
    'the cluster did not respond',
  );
  say(`all ${replicas} replicas vote`);
});

function isVoter(member) {
  return member?.role === 'leader' || member?.role === 'follower';
}
