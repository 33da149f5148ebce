/** Prints a row of the common table of all benches: the measurement, its figure and details. */

const nameWidth = 44;
const figureWidth = 16;

export function printHeading(title) {
  console.log(`\n${title}\n${'-'.repeat(title.length)}`);
}

export function printRow(name, figure, detail = '') {
  console.log(`${name.padEnd(nameWidth)} ${String(figure).padStart(figureWidth)}   ${detail}`);
}

export function count(value) {
  return Math.round(value).toLocaleString('en');
}

/** Returns a percentile of numbers in ascending order. */
export function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export function median(values) {
  return percentile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}
