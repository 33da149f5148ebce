/** The versions this build answers with. */

/** Version of Orch itself, as in package.json. */
export const orchVersion = '0.1.0';
/** Release of the interface that is served. */
export const interfaceVersion = { major: '1', minor: '21', git: 'v1.21.1' } as const;
