/**
 * An admission webhook as its users write one: an Express application that labels deployments by
 * JSON patch and rejects pods whose images have no version. Arguments: certificate and key files.
 * Prints its port when it listens.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import express from 'express';
import patches from 'fast-json-patch';

const [certificateFile, keyFile] = process.argv.slice(2);
const application = express();
application.use(express.json({ limit: '5mb' }));

function review(decide) {
  return (request, response) => {
    const { apiVersion, kind, request: reviewed } = request.body;
    response.json({ apiVersion, kind, response: { uid: reviewed.uid, ...decide(reviewed) } });
  };
}

function encoded(operations) {
  return Buffer.from(JSON.stringify(operations)).toString('base64');
}

application.post(
  '/label',
  review(({ object, userInfo }) => {
    const labelled = structuredClone(object);
    labelled.metadata.labels = { ...labelled.metadata.labels, owner: userInfo.username };
    const patch = encoded(patches.compare(object, labelled));
    return { allowed: true, patchType: 'JSONPatch', patch };
  }),
);

application.post(
  '/images',
  review(({ object }) => {
    const floating = object.spec.containers.find(({ image }) => !/:[\w.-]+$/.test(image));
    if (!floating) return { allowed: true };
    const message = `image ${floating.image} of container ${floating.name} has no version`;
    return { allowed: false, status: { code: 403, message } };
  }),
);

const tls = { cert: readFileSync(certificateFile), key: readFileSync(keyFile) };
const server = createServer(tls, application);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
