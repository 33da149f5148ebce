/**
 * A second build of the API server, as its next release might be: another version, a higher version of the
 * protocol between replicas, and in its messages something that this build has never heard of. What is
 * stored has the same format in both.
 */
import { type Edit, makeBuild } from './other-build.js';

export const nextVersion = '999.0.0-next';

/** Messages that carry the field that this build does not know. */
const messages = [
  'Greeting',
  'Entry',
  'VoteRequest',
  'VoteResponse',
  'AppendRequest',
  'AppendResponse',
  'HeartbeatRequest',
  'HeartbeatResponse',
  'ReadIndexRequest',
  'ReadIndexResponse',
  'ProposeRequest',
  'SnapshotHeader',
] as const;
/** Field 100, a text: two bytes of tag, one of length. */
const fieldTag = (100 << 3) | 2;
const fieldText = 'next';
const fieldBytes = 3 + fieldText.length;

/** Returns its main file. */
export function makeNextBuild(directory: string): string {
  const wire: Edit[] = [
    [/(var PROTOCOL_VERSION = )(\d+);/, '$1$2 + 1;'],
    ...messages.flatMap(withField),
  ];
  const version: Edit = [/(var orchVersion = )"[^"]+"/, `$1"${nextVersion}"`];
  return makeBuild(directory, { server: [version, ...wire], thread: wire });
}

function withField(message: string): Edit[] {
  return [
    [
      new RegExp(`(function size${message}\\(\\w+, \\w+\\) \\{\\s+let size = )0;`),
      `$1${fieldBytes};`,
    ],
    [
      new RegExp(`(function write${message}\\(\\w+, (\\w+)\\) \\{)`),
      `$1 $2.uint(${fieldTag}); $2.string("${fieldText}");`,
    ],
  ];
}
