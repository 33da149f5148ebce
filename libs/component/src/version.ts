/** The versions that this build reports. */

/** The version of Orch, as in package.json. */
export const orchVersion = '0.1.0';
/** The upstream release whose API is served. */
export const interfaceVersion = { major: '1', minor: '21', git: 'v1.21.1' } as const;

/** Returns the version fields of `/version` and of the build info metric. */
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
