/** The documents as JSON text, in pieces. */
import { documentInfo, type Piece, securityScheme } from './document.js';

const security = JSON.stringify([{ BearerToken: [] }]);
const securitySchemes = JSON.stringify({ BearerToken: securityScheme });

export function* jsonOfVersion2(pieces: Iterable<Piece>): Generator<string> {
  yield `{"swagger":"2.0","info":${JSON.stringify(documentInfo())},"paths":`;
  yield* sections(pieces, '"definitions":');
  yield `,"securityDefinitions":${securitySchemes},"security":${security}}`;
}

export function* jsonOfVersion3(pieces: Iterable<Piece>): Generator<string> {
  yield `{"openapi":"3.0.0","info":${JSON.stringify(documentInfo())},"paths":`;
  yield* sections(pieces, '"components":{"schemas":');
  yield `,"securitySchemes":${securitySchemes}},"security":${security}}`;
}

/** The paths as one object and, after `between`, the definitions as another. */
function* sections(pieces: Iterable<Piece>, between: string): Generator<string> {
  let section: Piece['section'] = 'paths';
  let before = '{';
  for (const piece of pieces) {
    if (piece.section !== section) {
      yield `${before === '{' ? '{' : ''}},${between}`;
      section = piece.section;
      before = '{';
    }
    yield `${before}${JSON.stringify(piece.name)}:${JSON.stringify(piece.value)}`;
    before = ',';
  }
  yield '}';
}
