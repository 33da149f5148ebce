/** Linux capabilities that containers get by default, must drop and may add. */
import { fieldError, Literal } from '@orch/apimachinery';
import { setContext } from './pod-containers.js';
import type { ContainerMutator, ContainerValidator } from './policy-strategy.js';

const anything = '*';

export const mutateCapabilities: ContainerMutator = ({ spec }, _pod, container) => {
  const { add = [], drop = [] } = container.securityContext?.capabilities ?? {};
  const defaults = (spec.defaultAddCapabilities ?? []).filter((name) => !drop.includes(name));
  const adds = new Set([...defaults, ...add]);
  const drops = new Set([...(spec.requiredDropCapabilities ?? []), ...drop]);
  if (adds.size === new Set(add).size && drops.size === new Set(drop).size) return;
  setContext(container, {
    capabilities: {
      ...(adds.size > 0 && { add: [...adds].sort() }),
      ...(drops.size > 0 && { drop: [...drops].sort() }),
    },
  });
};

export const validateCapabilities: ContainerValidator = ({ spec }, _pod, container, fieldPath) => {
  const at = fieldPath.child('securityContext', 'capabilities');
  const { defaultAddCapabilities = [], requiredDropCapabilities = [] } = spec;
  const { allowedCapabilities = [] } = spec;
  const capabilities = container.securityContext?.capabilities;
  if (!capabilities) {
    if (defaultAddCapabilities.length === 0 && requiredDropCapabilities.length === 0) return [];
    const message = 'required capabilities are not set on the securityContext';
    return [fieldError.invalid(at, undefined, message)];
  }
  if (allowedCapabilities.includes(anything)) return [];
  const { add = [], drop = [] } = capabilities;
  const allowed = new Set([...defaultAddCapabilities, ...allowedCapabilities]);
  return [
    ...add
      .filter((name) => !allowed.has(name))
      .map((name) => fieldError.invalid(at.child('add'), name, 'capability may not be added')),
    ...requiredDropCapabilities
      .filter((name) => !drop.includes(name))
      .map((name) =>
        fieldError.invalid(
          at.child('drop'),
          dropList(drop),
          `${name} is required to be dropped but was not found`,
        ),
      ),
  ];
};

/** As upstream prints a list of capabilities. */
function dropList(drop: readonly string[]): Literal {
  if (drop.length === 0) return new Literal('[]core.Capability(nil)');
  return new Literal(`[]core.Capability{${drop.map((name) => JSON.stringify(name)).join(', ')}}`);
}
