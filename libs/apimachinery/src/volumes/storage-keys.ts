/** The annotations and provisioners by which claims, volumes and their controllers cooperate. */
import { dialect } from '@orch/component';

/** Claims and volumes: the class, which takes precedence over the field. */
export const storageClassKey = () => dialect().key('storage-class', 'volume.beta');

/** Claims: the node for which a provisioner creates the volume; the scheduler sets it. */
export const selectedNodeKey = () => dialect().key('selected-node', 'volume');

/** Claims: the binding is complete. */
export const bindCompletedKey = () => dialect().key('bind-completed', 'pv');

/** Claims and volumes: the binding was chosen by a controller, so that it may undo it. */
export const boundByControllerKey = () => dialect().key('bound-by-controller', 'pv');

/** Claims: the provisioner that is to create the volume. */
export const storageProvisionerKey = () => dialect().key('storage-provisioner', 'volume.beta');

/** Volumes: the provisioner that created the volume and deletes it. */
export const provisionedByKey = () => dialect().key('provisioned-by', 'pv');

/** The provisioner of classes whose volumes are created by hand. */
export const noProvisioner = () => dialect().key('no-provisioner');

/** The built-in provisioner of directories on the node of the pod. */
export const localPathProvisioner = () => dialect().key('local-path');

/** The parameter of its classes with the directory of their volumes on every node. */
export const nodePathParameter = 'nodePath';
