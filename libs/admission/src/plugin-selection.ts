/**
 * Selects the admission plugins that run: the default ones and those of
 * `--enable-admission-plugins`, without those of `--disable-admission-plugins`, in the order of the
 * list.
 */
import { ValueError } from '@orch/component';
import type { PluginDeclaration } from './plugin.js';

export interface PluginNames {
  readonly enabled: readonly string[];
  readonly disabled: readonly string[];
}

/** Throws `ValueError` for names that are unknown, unavailable, or in both lists. */
export function selectPlugins(
  plugins: readonly PluginDeclaration[],
  { enabled, disabled }: PluginNames,
): PluginDeclaration[] {
  check(plugins, '--enable-admission-plugins', enabled);
  check(plugins, '--disable-admission-plugins', disabled);
  for (const name of enabled) {
    if (disabled.includes(name)) {
      throw new ValueError(
        `--enable-admission-plugins: ${name} is in --disable-admission-plugins as well`,
      );
    }
    const reason = plugins.find((plugin) => plugin.name === name)?.unavailable;
    if (reason !== undefined) {
      throw new ValueError(`--enable-admission-plugins: ${name} is not available: ${reason}`);
    }
  }
  return plugins.filter(
    ({ name, isDefault }) => !disabled.includes(name) && (isDefault || enabled.includes(name)),
  );
}

function check(
  plugins: readonly PluginDeclaration[],
  flag: string,
  names: readonly string[],
): void {
  const known = plugins.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new ValueError(
    `${flag}: unknown plugins ${unknown.join(', ')}; the plugins are ${known.join(', ')}`,
  );
}
