/**
 * The visibility of metrics. A deprecated metric is first marked in its help, then hidden for one
 * release, during which `--show-hidden-metrics-for-version` shows it, then removed.
 */

import { interfaceVersion } from '../version.js';

export type Stability = 'ALPHA' | 'STABLE';

/** Releases between the deprecation of a metric and its hiding. */
const releasesShown: Readonly<Record<Stability, number>> = { ALPHA: 1, STABLE: 3 };

export const previousRelease = `${interfaceVersion.major}.${Number(interfaceVersion.minor) - 1}`;

/**
 * Whether a metric that is deprecated since `deprecatedSince` (`major.minor.patch`) is hidden.
 * `shownRelease` is the release whose hidden metrics are shown; empty for none.
 */
export function isHidden(
  deprecatedSince: string | undefined,
  stability: Stability,
  shownRelease: string,
): boolean {
  if (deprecatedSince === undefined) return false;
  const hiddenFrom = minorOf(deprecatedSince) + releasesShown[stability];
  const release = shownRelease === '' ? interfaceVersion.minor : minorOf(shownRelease);
  return Number(release) >= hiddenFrom;
}

/** Returns the text of the `# HELP` line. */
export function helpText(
  help: string,
  stability: Stability,
  deprecatedSince: string | undefined,
): string {
  const isDeprecated =
    deprecatedSince !== undefined && minorOf(deprecatedSince) <= Number(interfaceVersion.minor);
  return `[${stability}] ${isDeprecated ? `(Deprecated since ${deprecatedSince}) ` : ''}${help}`;
}

function minorOf(release: string): number {
  return Number(release.split('.')[1]);
}
