/**
 * A validating webhook in a process of its own, which allows everything and does as little else as
 * it can. It reports the bytes of the last review, so that a bare round trip can send the same.
 * Below `/hang` it never responds, below `/flood` it sends 10 MB.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { serve } from './child.mjs';

const uidLength = 36;
const mark = '"uid":"';
const flood = Buffer.alloc(10_000_000, ' ');
let lastBody = Buffer.alloc(0);
let hanging = [];

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
    request.on('end', () => {
      if (request.url.startsWith('/hang')) hanging.push(response);
      else if (request.url.startsWith('/flood')) response.end(flood);
      else respond(apiVersion, chunks, response);
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    commands: {
      port: () => server.address().port,
      lastBody: () => lastBody,
      hangingCount: () => hanging.length,
      release() {
        for (const response of hanging) response.writeHead(500).end();
        hanging = [];
      },
    },
    end() {
      server.closeAllConnections();
      server.close();
    },
  };
}

serve(create);
