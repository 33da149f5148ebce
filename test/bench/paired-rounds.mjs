/**
 * Compares two servers in many short alternating rounds. Ratios of adjacent rounds hold on a
 * machine whose speed drifts, single figures do not. Other load only ever makes a round slower, so
 * the best rounds of each side repeat within a few per cent where medians differ by tens.
 */
import { median, percentile } from './row.mjs';

/** Two-sided 95% of the normal distribution, halved: ranks of the interval around the median. */
const rankFactor = 0.98;

/**
 * Runs `run` once for each side to warm up, then `roundCount` times for each; the side that starts
 * alternates. `sides` and the figures of each round have the keys `old` and `new`.
 */
export async function pairedRounds(sides, run, roundCount) {
  for (const side of [sides.old, sides.new]) await run(side);
  const rounds = [];
  for (let round = 0; round < roundCount; round += 1) {
    const order = round % 2 === 0 ? ['old', 'new'] : ['new', 'old'];
    const figures = {};
    for (const side of order) figures[side] = await run(sides[side]);
    rounds.push(figures);
  }
  return rounds;
}

/**
 * The share of rounds that are at least as good as the best figure; one round may be an outlier.
 */
const bestShare = 0.1;

/**
 * Returns the best figures of both sides and their ratio `best`, and the median of the ratios of
 * adjacent rounds with its interval. `isRate`: high figures are good.
 */
export function comparison(rounds, key, isRate) {
  const bestOf = (side) => {
    const figures = rounds.map((round) => round[side][key]).sort((a, b) => a - b);
    return percentile(isRate ? figures.reverse() : figures, bestShare);
  };
  const ratios = rounds.map((round) => round.new[key] / round.old[key]).sort((a, b) => a - b);
  const margin = Math.ceil(rankFactor * Math.sqrt(ratios.length));
  const middle = Math.floor(ratios.length / 2);
  return {
    old: bestOf('old'),
    new: bestOf('new'),
    best: bestOf('new') / bestOf('old'),
    ratio: median(ratios),
    low: ratios[Math.max(0, middle - margin)],
    high: ratios[Math.min(ratios.length - 1, middle + margin)],
  };
}
