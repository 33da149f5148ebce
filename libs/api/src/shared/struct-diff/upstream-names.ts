/**
 * Where upstream's types in memory differ from the served ones: names that do not follow from the
 * JSON name, and the order of fields.
 */

export const fieldNames: Readonly<Record<string, string>> = {
  'AzureDiskVolumeSource.diskURI': 'DataDiskURI',
  'CephFSPersistentVolumeSource.monitors': 'Monitors',
  'GlusterfsPersistentVolumeSource.endpoints': 'EndpointsName',
  'ISCSIPersistentVolumeSource.chapAuthDiscovery': 'DiscoveryCHAPAuth',
  'ISCSIPersistentVolumeSource.chapAuthSession': 'SessionCHAPAuth',
  'PersistentVolumeSource.cephfs': 'CephFS',
  'PersistentVolumeSource.flexVolume': 'FlexVolume',
  'PersistentVolumeSource.scaleIO': 'ScaleIO',
  'PersistentVolumeSource.storageos': 'StorageOS',
  'RBDPersistentVolumeSource.image': 'RBDImage',
  'RBDPersistentVolumeSource.monitors': 'CephMonitors',
  'RBDPersistentVolumeSource.pool': 'RBDPool',
  'RBDPersistentVolumeSource.user': 'RadosUser',
};

export const fieldOrders: Readonly<Record<string, readonly string[]>> = {
  PersistentVolumeSource: [
    'gcePersistentDisk',
    'awsElasticBlockStore',
    'hostPath',
    'glusterfs',
    'nfs',
    'rbd',
    'quobyte',
    'iscsi',
    'flexVolume',
    'cinder',
    'cephfs',
    'fc',
    'flocker',
    'azureFile',
    'vsphereVolume',
    'azureDisk',
    'photonPersistentDisk',
    'portworxVolume',
    'scaleIO',
    'local',
    'storageos',
    'csi',
  ],
};
