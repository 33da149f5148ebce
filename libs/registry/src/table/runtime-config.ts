/**
 * The served versions and resources, from `--runtime-config`. Keys, of which the most specific
 * wins: `api/all`; `api/ga`, `api/beta`, `api/alpha`; `<group>/<version>` (`v1` for the core
 * group); `<group>/<version>/<resource>`. Everything is served by default. Disabled resources stay
 * stored, and the server itself continues to use them.
 */
import type { ResourceDefinition, ServedVersion } from '@orch/api';
import { dialect, parseBoolean, ValueError } from '@orch/component';

const stages = { 'api/ga': /^v\d+$/, 'api/beta': /beta/, 'api/alpha': /alpha/ } as const;

export class RuntimeConfig {
  private readonly switches = new Map<string, boolean>();

  /**
   * `entries`: `key` or `key=true|false`, later ones win. Throws `ValueError` for a key that names
   * nothing here.
   */
  constructor(entries: readonly string[], definitions: readonly ResourceDefinition[]) {
    const known = new Set<string>(['api/all', ...Object.keys(stages)]);
    for (const definition of definitions) {
      for (const version of definition.versions) {
        const groupVersion = groupVersionOf(version);
        known.add(groupVersion).add(`${groupVersion}/${definition.plural}`);
      }
    }
    for (const entry of entries) {
      const [key = '', text] = entry.split('=', 2);
      if (!known.has(key)) {
        throw new ValueError(
          `--runtime-config: no ${JSON.stringify(key)} here: want api/all, api/ga, api/beta, api/alpha, a group/version (v1 for the core group) or a group/version/resource`,
        );
      }
      this.switches.set(key, text === undefined || switchOf(key, text));
    }
  }

  serves(definition: ResourceDefinition, version: ServedVersion): boolean {
    const groupVersion = groupVersionOf(version);
    const stage = Object.entries(stages).find(([, pattern]) => pattern.test(version.version));
    const resource = this.switches.get(`${groupVersion}/${definition.plural}`);
    return (
      resource ??
      this.switches.get(groupVersion) ??
      (stage && this.switches.get(stage[0])) ??
      this.switches.get('api/all') ??
      true
    );
  }
}

function groupVersionOf({ group, version }: ServedVersion): string {
  return dialect().apiVersion(group, version);
}

function switchOf(key: string, text: string): boolean {
  try {
    return parseBoolean(text);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw new ValueError(`--runtime-config: ${key}: ${error.message}`);
  }
}
