/** Reads the YAML or JSON document of a configuration file, within limits. */
import { readFileSync, statSync } from 'node:fs';
import { errorMessage, ValueError } from '@orch/component';
import { parse, YAMLError } from 'yaml';
import { configurationBytesMax, configurationMergesMax } from '../limits.js';
import { isMergeFault, yamlReadOptions } from './tags.js';

/**
 * Returns the document; duplicate keys are errors. Throws ValueError with the file and the reason.
 * The reason may quote a line of the file: do not read files with secrets by this function.
 */
export function readConfigurationFile(file: string): unknown {
  return parseText(textOf(file), file);
}

function textOf(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > configurationBytesMax) throw new Error(`larger than ${configurationBytesMax} bytes`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ValueError(`cannot read ${file}: ${errorMessage(error)}`);
  }
}

function parseText(text: string, file: string): unknown {
  try {
    return parse(text, {
      ...yamlReadOptions(configurationMergesMax),
      uniqueKeys: true,
      maxAliasCount: configurationMergesMax,
      logLevel: 'error',
    });
  } catch (error) {
    const isFault =
      error instanceof YAMLError || error instanceof ReferenceError || isMergeFault(error);
    if (!isFault) throw error;
    throw new ValueError(`${file}: ${error.message.split('\n', 1)[0]}`);
  }
}
