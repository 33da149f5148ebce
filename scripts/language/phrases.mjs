/**
 * The phrases that this project does not use, each with what to write in its place; docs/style.md
 * says why. A space in a pattern matches a line break too. `unless` is a right use, tested on the
 * text that begins with the phrase.
 */

const passive = '(?:is|are|was|were|be|been|being|gets?|not|and|or)';

/** @type {ReadonlyArray<{ pattern: RegExp, advice: string, unless?: RegExp }>} */
export const phrases = [
  phrase('(?:tell|tells|telling|told)', 'report, record, notify, include, distinguish'),
  phrase('ask(?:s|ed|ing)?', 'request, query, call, read; of a person: prompt'),
  phrase('answer(?:s|ed|ing)?', 'response, respond, return, reply'),
  phrase('what (?:is|are|was|were|has|had|it|they)', 'the noun: "the stored object"', {
    // Questions and headings.
    unless: /^what [^.]*\?|^What [^.\n]*\n\n/,
  }),
  phrase('(?:whoever|whomever|who it is)', 'the user, the client, the caller'),
  phrase('those (?:that|who|which)', 'the noun, with "that" or a participle'),
  phrase('(?:nobody|somebody|everybody|anybody)', 'the actor: no client, another replica'),
  phrase('in vain', '"fails", "without success"'),
  phrase('for ever', 'permanently, without a limit'),
  phrase('under way', 'in flight, in progress'),
  phrase('let(?:s|ting)? (?:go|in|on)', 'release, admit, continue'),
  phrase('(?:go|goes|going|went) (?:on|away|by|out)', 'continue, is streaming, stop, expire'),
  phrase('(?:stands?|standing|stood) (?:in|for|there)', 'is in, represents, contains'),
  phrase('look(?:s|ed|ing)? at', 'check, inspect, read'),
  phrase('a look', 'a check, a scan'),
  phrase('puts? right', 'repair, correct'),
  phrase('(?:keep|keeps|kept|keeping) book', 'record, count'),
  phrase('of the house', 'the code base, the project, the package'),
  phrase('(?:is|are|was|were|be) (?:not |no longer |still )?there', 'exists, is missing'),
  phrase('(?<!there )(?:is|are|was|were) none', '"there is no ..."'),
  phrase('(?:cuts?|cutting)', 'compact (a log), close (a connection), truncate, split', {
    unless: /^cut -/,
  }),
  phrase('at once', 'immediately; at the same time: concurrently, together'),
  phrase('in turn', 'sequentially, one after the other, round-robin'),
  phrase(`${passive} kept`, 'stored, retained', {
    unless: /kept (?:alive|open|in sync|up to date)/,
  }),
  phrase(`${passive} made (?:of|from|by|with|at|in|anew|again|once|when|only|and|for)`, 'created'),
  phrase('came', 'arrived, appeared, returned'),
  phrase('comes? (?:in|back|of|out|along|over|too|later|again)', 'arrive, appear, return, result'),
  phrase('sees? to', 'ensure, check, handle'),
  phrase('hear(?:s|d)? (?:of|nothing)', 'receive, learn'),
  phrase('(?:judges?|judged|verdicts?)', 'decide, evaluate, decision'),
  phrase('(?:upkeep|nudges?|nudged)', 'reconciler, maintenance; notify, wake'),
  phrase('anew', 'again'),
  phrase('ought', 'must, should'),
  {
    pattern: /(?<=(?:^|[.:;|]|\n\s*\n)\s{0,9}['"`]?)Of (?!course\b)[a-z]/g,
    advice: 'the main clause first: no sentence begins with "Of ..."',
  },
];

/** Matches `words` as whole words in any case. */
function phrase(words, advice, { unless } = {}) {
  const source = `(?<![\\w-])${words.replaceAll(' ', '\\s+')}(?![\\w-])`;
  return { pattern: new RegExp(source, 'gi'), advice, unless };
}

/**
 * Right uses that no pattern can distinguish from wrong ones. `text` is tested on the passage from
 * the phrase on.
 *
 * @type {ReadonlyArray<{ path: RegExp, text: RegExp, reason: string }>}
 */
export const allowed = [
  {
    path: /^libs\/api\/src\/core\//,
    text: /^is None\b/,
    reason: 'the wording of the interface, where None is a value',
  },
  {
    path: /^libs\/security\/src\/webhooks\/response-failure\.ts$/,
    text: /^asked (?:for the client|us to try)\b/,
    reason: 'the wording of the interface',
  },
];
