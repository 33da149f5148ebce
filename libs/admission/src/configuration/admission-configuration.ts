/**
 * The file of `--admission-control-config-file`: a configuration for each plugin that has one, in
 * the file itself or in a file that it names.
 */
import { resolve } from 'node:path';
import { ValueError } from '@orch/component';
import type { PluginDeclaration } from '../plugin.js';
import { type ConfigurationDocument, checkedMap, checkedObject, readDocument } from './document.js';

const versions = [
  ['apiserver.config', 'v1'],
  ['apiserver', 'v1alpha1'],
] as const;

/** By the name of the plugin. Throws ValueError. */
export function readAdmissionConfiguration(
  path: string,
): ReadonlyMap<string, ConfigurationDocument> {
  const document = readDocument(path);
  const { plugins = [] } = checkedObject(document, 'AdmissionConfiguration', versions, {
    plugins: 'list',
  });
  const documents = new Map<string, ConfigurationDocument>();
  for (const [index, plugin] of (plugins as unknown[]).entries()) {
    const field = `plugins[${index}]`;
    const fail = (cause: string) => new ValueError(`${path}: ${field}: ${cause}`);
    const {
      name = '',
      path: file,
      configuration,
    } = checkedMap(document, plugin, field, {
      name: 'string',
      path: 'string',
      configuration: 'map',
    });
    if (name === '') throw fail('name is required');
    if (documents.has(String(name))) throw fail(`${name} is configured twice`);
    if ((file === undefined) === (configuration === undefined)) {
      throw fail('one of path and configuration is required');
    }
    const own =
      file === undefined
        ? { ...document, file: `${path}: ${field}.configuration`, value: configuration }
        : readDocument(resolve(document.directory, String(file)));
    documents.set(String(name), own);
  }
  return documents;
}

/**
 * The plugins with their configurations. Throws ValueError for a plugin that is
 * unknown or has no configuration.
 */
export function configurePlugins(
  plugins: readonly PluginDeclaration[],
  documents: ReadonlyMap<string, ConfigurationDocument>,
): PluginDeclaration[] {
  const configurable = plugins.filter(({ configured }) => configured).map(({ name }) => name);
  for (const name of documents.keys()) {
    if (configurable.includes(name)) continue;
    throw new ValueError(
      `the admission configuration is for ${name}; plugins with a configuration are ${configurable.join(', ')}`,
    );
  }
  return plugins.map((plugin) => {
    const document = documents.get(plugin.name);
    return document && plugin.configured ? plugin.configured(document) : plugin;
  });
}
