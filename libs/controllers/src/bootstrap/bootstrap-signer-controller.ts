/**
 * Signs the public cluster information (kubeconfig with addresses and authority of the cluster)
 * with every bootstrap token that is for signing, so that a machine with a token can verify it.
 */
import { isConflict, isNotFound, keyOf, resources } from '@orch/client';
import { dialect } from '@orch/component';
import { CompactSign } from 'jose';
import { type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { kubeconfigKey, signedData } from './cluster-info-plan.js';
import { expirationMs, type SigningToken, signingToken } from './token-secret-plan.js';
import { tokenSecrets } from './token-secrets.js';

const configMapName = 'cluster-info';

export const bootstrapSigner: ControllerFactory = (context) => {
  const { client, clock, informers } = context;
  const namespace = dialect().publicNamespace;
  const key = keyOf(namespace, configMapName);
  const selection = tokenSecrets();
  const ownMap = { namespace, fieldSelector: `metadata.name=${configMapName}` };
  const secrets = informers.informer(resources.secrets, selection).lister;
  const configMaps = informers.informer(resources.configMaps, ownMap).lister;

  return controller('bootstrap_signer', context)
    .watches(resources.configMaps, () => [key], { selection: ownMap })
    .watches(resources.secrets, () => [key], { selection })
    .reconcile(async () => {
      const configMap = configMaps.get(key);
      const content = configMap?.data?.[kubeconfigKey];
      if (!configMap || content === undefined) return done;
      const nowMs = clock.nowMs();
      const tokens = secrets.list().flatMap((secret) => signingToken(secret, nowMs) ?? []);
      const data = signedData(configMap, await signaturesOf(content, tokens));
      if (data) {
        const write = client
          .resource(resources.configMaps, namespace)
          .replace({ ...configMap, data });
        await ignoring(write, isConflict, isNotFound);
      }
      const ends = secrets.list().flatMap((secret) => expirationMs(secret) ?? []);
      const next = ends.filter((endMs) => endMs > nowMs);
      return next.length === 0 ? done : { requeueAfterMs: Math.min(...next) - nowMs };
    });
};

async function signaturesOf(
  content: string,
  tokens: readonly SigningToken[],
): Promise<ReadonlyMap<string, string>> {
  const signed = tokens.map(async ({ id, secret }) => {
    return [id, await detachedSignature(content, id, secret)] as const;
  });
  return new Map(await Promise.all(signed));
}

/** JSON Web Signature without its content: `<header>..<signature>`. */
async function detachedSignature(content: string, id: string, secret: string): Promise<string> {
  const signature = await new CompactSign(Buffer.from(content))
    .setProtectedHeader({ alg: 'HS256', kid: id })
    .sign(Buffer.from(secret));
  const [header, , code] = signature.split('.');
  return `${header}..${code}`;
}
