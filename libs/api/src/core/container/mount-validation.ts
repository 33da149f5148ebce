/** Validates volume mounts and block devices of a container. */
import { type FieldError, type FieldPath, fieldError } from '@orch/apimachinery';
import type { Container, Volume } from '@orch/types/core/v1';
import { checkOneOf } from '../../shared/rules.js';
import { validateLocalDescendingPath, validateNoBacksteps } from '../common/path-rules.js';

export type VolumesByName = ReadonlyMap<string, Volume>;

export function validateMounts(
  container: Container,
  volumes: VolumesByName,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  const devices = container.volumeDevices ?? [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const field = fieldPath.index(index);
    const refuse = (name: 'name' | 'mountPath', detail: string) =>
      errors.push(fieldError.invalid(field.child(name), mount[name], detail));
    if (!mount.name) errors.push(fieldError.required(field.child('name')));
    if (!volumes.has(mount.name)) {
      errors.push(fieldError.notFound(field.child('name'), mount.name));
    }
    if (!mount.mountPath) errors.push(fieldError.required(field.child('mountPath')));
    if (seen.has(mount.mountPath)) refuse('mountPath', 'must be unique');
    seen.add(mount.mountPath);
    if (devices.some((device) => device.name === mount.name)) {
      refuse('name', 'must not already exist in volumeDevices');
    }
    if (devices.some((device) => device.devicePath === mount.mountPath)) {
      refuse('mountPath', 'must not already exist as a path in volumeDevices');
    }
    errors.push(...validateSubPaths(mount, field, fieldPath));
    errors.push(...validatePropagation(mount.mountPropagation, container, fieldPath));
  }
  return errors;
}

type Mount = NonNullable<Container['volumeMounts']>[number];

/** Errors of the paths themselves name the list. */
function validateSubPaths(mount: Mount, mountAt: FieldPath, fieldPath: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (mount.subPath) {
    errors.push(...validateLocalDescendingPath(mount.subPath, fieldPath.child('subPath')));
  }
  if (!mount.subPathExpr) return errors;
  if (mount.subPath) {
    errors.push(
      fieldError.invalid(
        mountAt.child('subPathExpr'),
        mount.subPathExpr,
        'subPathExpr and subPath are mutually exclusive',
      ),
    );
  }
  errors.push(...validateLocalDescendingPath(mount.subPathExpr, fieldPath.child('subPathExpr')));
  return errors;
}

function validatePropagation(
  propagation: string | undefined,
  container: Container,
  fieldPath: FieldPath,
): FieldError[] {
  if (propagation === undefined) return [];
  const field = fieldPath.child('mountPropagation');
  if (propagation === 'Bidirectional' && container.securityContext?.privileged !== true) {
    return [
      fieldError.forbidden(
        field,
        'Bidirectional mount propagation is available only to privileged containers',
      ),
    ];
  }
  return checkOneOf(propagation, ['Bidirectional', 'HostToContainer', 'None'], field);
}

export function validateDevices(
  container: Container,
  volumes: VolumesByName,
  fieldPath: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const paths = new Set<string>();
  const mounts = container.volumeMounts ?? [];
  for (const [index, device] of (container.volumeDevices ?? []).entries()) {
    const { name, devicePath } = device;
    const nameAt = fieldPath.index(index).child('name');
    const pathAt = fieldPath.index(index).child('devicePath');
    const volume = volumes.get(name);
    if (!name) errors.push(fieldError.required(nameAt));
    if (names.has(name)) errors.push(fieldError.invalid(nameAt, name, 'must be unique'));
    if (volume && !volume.persistentVolumeClaim) {
      errors.push(
        fieldError.invalid(
          nameAt,
          name,
          'can only use volume source type of PersistentVolumeClaim for block mode',
        ),
      );
    }
    if (!volume) errors.push(fieldError.notFound(nameAt, name));
    if (!devicePath) errors.push(fieldError.required(pathAt));
    if (paths.has(devicePath)) {
      errors.push(fieldError.invalid(pathAt, devicePath, 'must be unique'));
    }
    if (validateNoBacksteps(devicePath ?? '', pathAt).length > 0) {
      errors.push(fieldError.invalid(pathAt, devicePath, "can not contain backsteps ('..')"));
    } else paths.add(devicePath);
    if (mounts.some((mount) => mount.name === name)) {
      errors.push(fieldError.invalid(nameAt, name, 'must not already exist in volumeMounts'));
    }
    if (mounts.some((mount) => mount.mountPath === devicePath)) {
      errors.push(
        fieldError.invalid(pathAt, devicePath, 'must not already exist as a path in volumeMounts'),
      );
    }
    if (name) names.add(name);
  }
  return errors;
}
