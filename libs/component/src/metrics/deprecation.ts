/**
 * Which metrics are shown. A deprecated one is shown with a notice, then hidden for a release, in which
 * operators can have it back with `--show-hidden-metrics-for-version`, then gone.
 */
import { ValueError } from '../options/values.js';
import { interfaceVersion } from '../version.js';

export type Stability = 'ALPHA' | 'STABLE';

/** Releases from the deprecation of a metric to its hiding. */
const releasesShown: Readonly<Record<Stability, number>> = { ALPHA: 1, STABLE: 3 };

export const previousRelease = `${interfaceVersion.major}.${Number(interfaceVersion.minor) - 1}`;

/** Empty, or the release before this one; throws ValueError for any other. */
export function checkShownRelease(release: string): void {
  if (release === '' || release === previousRelease) return;
  throw new ValueError(
    `--show-hidden-metrics-for-version must be omitted or have the value '${previousRelease}'. Only the previous minor version is allowed`,
  );
}

/**
 * Is a metric that is deprecated since `deprecatedSince` (`major.minor.patch`) left out of what is
 * served? `shownRelease`: the release whose metrics are asked for besides.
 */
export function isHidden(
  deprecatedSince: string | undefined,
  stability: Stability,
  shownRelease: string,
): boolean {
  if (deprecatedSince === undefined) return false;
  const hiddenFrom = minorOf(deprecatedSince) + releasesShown[stability];
  const asked = shownRelease === '' ? interfaceVersion.minor : minorOf(shownRelease);
  return Number(asked) >= hiddenFrom;
}

/** Text of `# HELP`. */
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
