/** The versions this build answers with. */

/** Version of Orch itself, as in package.json. */
export const orchVersion = '0.1.0';
/** Release of the interface that is served. */
export const interfaceVersion = { major: '1', minor: '21', git: 'v1.21.1' } as const;

/** What runs, as `/version` and the metric of the build tell it. */
export function buildInfo() {
  return {
    major: interfaceVersion.major,
    minor: interfaceVersion.minor,
    gitVersion: interfaceVersion.git,
    gitCommit: orchVersion,
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: process.version,
    compiler: 'node',
    platform: `${process.platform}/${process.arch}`,
  };
}
