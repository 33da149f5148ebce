/** Seeds that have found something: they are run for ever. `found` says what it was. */

export const regressionSeeds: readonly { readonly seed: number; readonly found: string }[] = [
  {
    seed: 52,
    found:
      'a replica whose disk failed while it noted a peer told that peer, before it ended, that its directory was wiped: a healthy process ended',
  },
];
