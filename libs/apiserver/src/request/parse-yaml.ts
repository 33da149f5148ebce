/**
 * YAML bodies: YAML 1.1, where `0644` is octal, `yes` is true and `<<` merges maps, as in
 * manifests. Parsing YAML costs some microseconds per token and cannot be interrupted, so the
 * tokens are counted first, which is cheap: a body with too many of them does not block other
 * requests. The last of duplicate keys wins, as in JSON.
 */
import {
  badRequest,
  isDeeperThan,
  isMergeFault,
  requestEntityTooLarge,
  yamlReadOptions,
} from '@orch/apimachinery';
import { Lexer, parse, YAMLError } from 'yaml';
import { yamlAliasesMax, yamlDepthMax, yamlMergesMax, yamlTokensMax } from '../limits.js';

const opens: ReadonlySet<string> = new Set(['{', '[']);
const closes: ReadonlySet<string> = new Set(['}', ']']);

/** Throws YAMLError for invalid YAML, StatusError (400, 413) if it exceeds a limit. */
export function parseYamlText(text: string): unknown {
  checkTokens(text);
  const value = read(text);
  // An alias inside its own anchor creates a cyclic value.
  if (isDeeperThan(value, yamlDepthMax)) throw tooDeep();
  return value;
}

function read(text: string): unknown {
  try {
    // Its warnings would go to this process's standard error, for any client to fill.
    return parse(text, {
      ...yamlReadOptions(yamlMergesMax),
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
