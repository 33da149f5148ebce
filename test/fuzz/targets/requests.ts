/** The parts of a request beside its body: path, query, headers, selectors and tokens. */
import assert from 'node:assert/strict';
import { parseFieldSelector, parseLabelSelector, SelectorError } from '@orch/apimachinery';
import { dialect, FeatureGates } from '@orch/component';
import type { Revision } from '@orch/store';
import {
  chooseProtocol,
  listedValues,
  parsePort,
  webSocketCommandProtocols,
} from '@orch/streaming';
import fc from 'fast-check';
import { splitTarget } from '../../../libs/apiserver/src/http/query.js';
import {
  isResourceTarget,
  parseRequestInfo,
} from '../../../libs/apiserver/src/http/request-info.js';
import { negotiate } from '../../../libs/apiserver/src/request/accept.js';
import { bodyFormat, patchType } from '../../../libs/apiserver/src/request/body-format.js';
import { fieldValidationOf } from '../../../libs/apiserver/src/request/field-validation.js';
import {
  getConsistency,
  parseListRequest,
  parseWatchRequest,
} from '../../../libs/apiserver/src/request/list-options.js';
import { includeObjectOf } from '../../../libs/apiserver/src/request/representation.js';
import {
  parseDeleteOptions,
  parsePatchOptions,
  parseWriteOptions,
} from '../../../libs/apiserver/src/request/write-options.js';
import { HttpError } from '../../../libs/node/src/server/request/http-error.js';
import {
  parseCommandRequest,
  parsePorts,
} from '../../../libs/node/src/server/streams/stream-target.js';
import {
  decodeContinueToken,
  encodeContinueToken,
} from '../../../libs/registry/src/store/continue-token.js';
import { parseSelection } from '../../../libs/registry/src/store/selection.js';
import { damagedText } from '../inputs/bytes.js';
import { hostileJson, jsonText } from '../inputs/json.js';
import { anyServed } from '../inputs/objects.js';
import { acceptHeader, contentTypeHeader, queryText, requestPath } from '../inputs/requests.js';
import { hostileText, inheritedNames, sentence } from '../inputs/text.js';
import { cheap, decodedOrRefused, type Target, target } from '../target.js';
import { checkInherited, doneOrRefused } from './refusals.js';

const features = new FeatureGates('apiserver');

const selectorWords = [
  ...[
    'a',
    'app',
    'a.b/c',
    '1',
    'in',
    'notin',
    ' ',
    '  ',
    '(',
    ')',
    ',',
    '=',
    '==',
    '!=',
    '!',
    '>',
    '<',
  ],
  ...['metadata.name', 'status.phase', 'spec.nodeName', '\\', '\\,', '\\=', ...inheritedNames],
];

const someLabels = { a: '1', app: 'web', constructor: 'x' };

const selectors = target(
  'selectors',
  fc.tuple(anyServed, sentence(selectorWords), sentence(selectorWords)),
  ([served, labelText, fieldText]) => {
    const labels = decodedOrRefused(() => parseLabelSelector(labelText), SelectorError);
    if (labels) {
      const again = parseLabelSelector(labels.toString());
      assert.equal(again.toString(), labels.toString());
      assert.equal(again.matches(someLabels), labels.matches(someLabels));
      labels.matches(undefined);
    }
    const fields = decodedOrRefused(() => parseFieldSelector(fieldText), SelectorError);
    fields?.matches(() => '1');
    doneOrRefused(() => parseSelection(served, labelText, fieldText));
    checkInherited();
  },
);

const forged = hostileJson.map((value) => Buffer.from(jsonText(value)).toString('base64url'));
const token = fc
  .record({
    revision: fc.oneof(fc.constant(undefined), fc.integer({ min: 1, max: 2 ** 53 - 1 })),
    startAfter: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
  })
  .map(({ revision, startAfter }) => ({ revision: revision as Revision | undefined, startAfter }));

const continueTokens = target(
  'continue-tokens',
  fc.record({
    token,
    text: fc.oneof(hostileText, forged, damagedText(token.map(encodeContinueToken))),
  }),
  ({ token: given, text }) => {
    const read = doneOrRefused(() => decodeContinueToken(text));
    if (read) assert.notEqual(read.startAfter, '');
    assert.deepEqual(decodeContinueToken(encodeContinueToken(given)), given);
  },
);

const queries = target('queries', queryText, (text) => {
  const { query } = splitTarget(`/x?${text}`);
  doneOrRefused(() => parseListRequest(query));
  doneOrRefused(() => parseWatchRequest(query));
  doneOrRefused(() => getConsistency(query));
  doneOrRefused(() => parseWriteOptions(query, 'CreateOptions'));
  for (const type of ['json', 'merge', 'strategic', 'apply'] as const) {
    doneOrRefused(() => parsePatchOptions(query, type));
  }
  doneOrRefused(() => parseDeleteOptions(query, undefined));
  doneOrRefused(() => fieldValidationOf(query));
  doneOrRefused(() => includeObjectOf(query.get('includeObject')));
  const parameters = new URLSearchParams(text);
  decodedOrRefused(() => parseCommandRequest(parameters), HttpError);
  decodedOrRefused(() => parsePorts(parameters), HttpError);
});

const formats: ReadonlySet<string> = new Set(['json', 'yaml', 'protobuf']);

const headers = target(
  'headers',
  fc.tuple(
    acceptHeader,
    contentTypeHeader,
    sentence(['v4.', 'channel', '.base64', ',', ' ', dialect().word]),
  ),
  ([accept, contentType, protocols]) => {
    for (const views of [true, false]) {
      for (const stream of [true, false]) {
        const wanted = doneOrRefused(() => negotiate(accept, { views, stream }));
        if (wanted) assert.ok(formats.has(wanted.format));
      }
    }
    doneOrRefused(() => bodyFormat(contentType));
    doneOrRefused(() => patchType(contentType, features));
    const known = webSocketCommandProtocols();
    const chosen = chooseProtocol(listedValues([protocols, accept]), known);
    assert.ok(
      chosen === undefined || chosen.name === '' || known.some(({ name }) => name === chosen.name),
    );
    const port = parsePort(protocols);
    assert.ok(port === undefined || (port > 0 && port < 65_536));
  },
);

const paths = target(
  'paths',
  fc.tuple(
    fc.constantFrom('GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE'),
    requestPath,
  ),
  ([method, path]) => {
    isResourceTarget(path);
    const info = doneOrRefused(() => parseRequestInfo(method, splitTarget(path).path, false));
    if (!info) return;
    // Escapes in the path do not change the request.
    const respelt = path.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
    const { path: _, ...same } = info;
    if (path.includes('%')) return;
    const { path: __, ...other } = parseRequestInfo(method, splitTarget(respelt).path, false);
    assert.deepEqual(other, same);
  },
);

export const requestTargets: readonly Target[] = [
  selectors,
  queries,
  ...cheap([continueTokens, headers, paths]),
];
