/**
 * A validating webhook in a process of its own, which allows everything and does as little else as
 * it can. It reports the bytes of the last review, so that a bare round trip can send the same.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { serve } from './child.mjs';

const uidLength = 36;
const mark = '"uid":"';
let lastBody = Buffer.alloc(0);

function respond(apiVersion, chunks, response) {
  lastBody = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
  const at = lastBody.indexOf(mark) + mark.length;
  const uid = lastBody.latin1Slice(at, at + uidLength);
  const body = `{"apiVersion":"${apiVersion}","kind":"AdmissionReview","response":{"uid":"${uid}","allowed":true}}`;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

async function create({ certificateFile, keyFile, apiVersion }) {
  const keys = { cert: readFileSync(certificateFile), key: readFileSync(keyFile) };
  const server = createServer(keys, (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => respond(apiVersion, chunks, response));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    commands: {
      port: () => server.address().port,
      lastBody: () => lastBody,
    },
    end() {
      server.closeAllConnections();
      server.close();
    },
  };
}

serve(create);
