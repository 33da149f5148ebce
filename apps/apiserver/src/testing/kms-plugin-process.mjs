/**
 * A key management service as a program of its own, written from the public interface without code
 * of the server: `node kms-plugin-process.mjs SOCKET PROTO KEY`. It encrypts with AES-GCM and a key
 * of 32 bytes in hexadecimal. The parent process sends `{ delayMs }` to slow it down and `{}` to
 * get the counts of calls; the reply to each message is the counts.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

const [socket, protoFile, keyText] = process.argv.slice(2);
const key = Buffer.from(keyText, 'hex');
const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const service = (await protobuf.load(protoFile)).lookupService('v1beta1.KeyManagementService');
const counts = { Version: 0, Encrypt: 0, Decrypt: 0 };
let delayMs = 0;

const implementation = {
  Version: () => ({ version: 'v1beta1', runtimeName: 'test', runtimeVersion: '1' }),
  Encrypt({ plain }) {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, key, nonce);
    const body = Buffer.concat([cipher.update(plain), cipher.final()]);
    return { cipher: Buffer.concat([nonce, cipher.getAuthTag(), body]) };
  },
  Decrypt({ cipher }) {
    const decipher = createDecipheriv(algorithm, key, cipher.subarray(0, nonceBytes));
    decipher.setAuthTag(cipher.subarray(nonceBytes, nonceBytes + tagBytes));
    const body = cipher.subarray(nonceBytes + tagBytes);
    return { plain: Buffer.concat([decipher.update(body), decipher.final()]) };
  },
};

function definition({ name, resolvedRequestType: requests, resolvedResponseType: responses }) {
  return {
    path: `/v1beta1.KeyManagementService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (value) => requests.encode(value).finish(),
    requestDeserialize: (bytes) => requests.decode(bytes),
    responseSerialize: (value) => Buffer.from(responses.encode(value).finish()),
    responseDeserialize: (bytes) => responses.decode(bytes),
  };
}

function handler(name) {
  return ({ request }, callback) => {
    counts[name] += 1;
    setTimeout(() => {
      try {
        callback(null, implementation[name](request));
      } catch (error) {
        callback({ code: 3, details: error.message });
      }
    }, delayMs);
  };
}

const methods = service.methodsArray.map((method) => method.resolve());
const server = new Server();
server.addService(
  Object.fromEntries(methods.map((method) => [method.name, definition(method)])),
  Object.fromEntries(methods.map(({ name }) => [name, handler(name)])),
);
process.on('message', (order) => {
  delayMs = order.delayMs ?? delayMs;
  process.send({ counts });
});
process.on('disconnect', () => process.exit(0));
server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
  process.send({ counts });
});
