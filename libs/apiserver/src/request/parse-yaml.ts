/**
 * YAML bodies: YAML 1.1, where `0644` is octal, `yes` is true and `<<` merges maps, as manifests are
 * written. Reading YAML costs some microseconds a token and cannot be interrupted, so the tokens are
 * counted first, which is cheap: a body with too many of them never holds up other requests. Of a key
 * that is there twice the last one counts, as in JSON.
 */
import {
  badRequest,
  isDeeperThan,
  isMergeFault,
  readOptions,
  requestEntityTooLarge,
} from '@orch/apimachinery';
import { Lexer, parse, YAMLError } from 'yaml';
import { yamlAliasesMax, yamlDepthMax, yamlMergesMax, yamlTokensMax } from '../limits.js';

const opens: ReadonlySet<string> = new Set(['{', '[']);
const closes: ReadonlySet<string> = new Set(['}', ']']);

/** Throws YAMLError for what is no YAML, StatusError (400, 413) for what is too much of it. */
export function parseYamlText(text: string): unknown {
  checkTokens(text);
  const value = read(text);
  // An alias inside of what it stands for makes a value without end.
  if (isDeeperThan(value, yamlDepthMax)) throw tooDeep();
  return value;
}

function read(text: string): unknown {
  try {
    // Its warnings would go to this process's standard error, for any client to fill.
    return parse(text, {
      ...readOptions(yamlMergesMax),
      maxAliasCount: yamlAliasesMax,
      uniqueKeys: false,
      logLevel: 'error',
    });
  } catch (error) {
    if (error instanceof YAMLError && !error.message.startsWith(stackMessage)) throw error;
    // Aliases that multiply, and block styles nested beyond what the reader can hold.
    if (error instanceof ReferenceError) throw badRequest(`yaml: ${error.message}`);
    if (error instanceof RangeError || error instanceof YAMLError) throw tooDeep();
    if (isMergeFault(error)) {
      throw badRequest('yaml: map merge requires map or sequence of maps as the value');
    }
    throw error;
  }
}

const stackMessage = 'Maximum call stack size exceeded';

function checkTokens(text: string): void {
  let count = 0;
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    count += 1;
    if (count > yamlTokensMax) {
      throw requestEntityTooLarge(
        `limit is ${yamlTokensMax} tokens in YAML, send JSON for larger objects`,
      );
    }
    if (opens.has(token)) {
      depth += 1;
      if (depth > yamlDepthMax) throw tooDeep();
    } else if (closes.has(token)) depth -= 1;
  }
}

function tooDeep(): Error {
  return badRequest(`yaml: nested deeper than ${yamlDepthMax} levels`);
}
