import { expect, it } from "vitest";
import { defaultVolume } from "../../../../src/core/pod/defaultVolumes.ts";

const field = { path: "p", fieldRef: { fieldPath: "metadata.name" } };
const resource = { path: "p", resourceFieldRef: { resource: "limits.cpu" } };
const files = [
  { ...field, fieldRef: { ...field.fieldRef, apiVersion: "v1" } },
  { ...resource, resourceFieldRef: { ...resource.resourceFieldRef, divisor: "0" } },
];
const claim = (spec: object) => ({ ephemeral: { volumeClaimTemplate: { spec } } });

it.each<[source: object, expected: object]>([
  [{}, { emptyDir: {} }],
  [{ nfs: { server: "s", path: "/" } }, { nfs: { server: "s", path: "/" } }],
  [{ configMap: { name: "c" } }, { configMap: { name: "c", defaultMode: 0o644 } }],
  [{ configMap: { defaultMode: 0 } }, { configMap: { defaultMode: 0 } }],
  [{ secret: { secretName: "s" } }, { secret: { secretName: "s", defaultMode: 0o644 } }],
  [{ secret: { defaultMode: 0 } }, { secret: { defaultMode: 0 } }],
  [{ downwardAPI: {} }, { downwardAPI: { defaultMode: 0o644 } }],
  [{ downwardAPI: { defaultMode: 0, items: [field, resource] } }, { downwardAPI: { defaultMode: 0, items: files } }],
  [{ projected: {} }, { projected: { defaultMode: 0o644 } }],
  [
    {
      projected: {
        defaultMode: 0,
        sources: [
          { serviceAccountToken: { path: "t" } },
          { serviceAccountToken: { path: "t", expirationSeconds: 600 } },
          { downwardAPI: { items: [field, resource] } },
          { downwardAPI: {} },
          { secret: { name: "s" } },
        ],
      },
    },
    {
      projected: {
        defaultMode: 0,
        sources: [
          { serviceAccountToken: { path: "t", expirationSeconds: 3600 } },
          { serviceAccountToken: { path: "t", expirationSeconds: 600 } },
          { downwardAPI: { items: files } },
          { downwardAPI: {} },
          { secret: { name: "s" } },
        ],
      },
    },
  ],
  [{ hostPath: { path: "/x" } }, { hostPath: { path: "/x", type: "" } }],
  [{ hostPath: { path: "/x", type: "File" } }, { hostPath: { path: "/x", type: "File" } }],
  [{ image: { reference: "a:latest" } }, { image: { reference: "a:latest", pullPolicy: "Always" } }],
  [{ image: { reference: "a:1" } }, { image: { reference: "a:1", pullPolicy: "IfNotPresent" } }],
  [{ image: { reference: "a:1", pullPolicy: "Never" } }, { image: { reference: "a:1", pullPolicy: "Never" } }],
  [{ iscsi: { lun: 0 } }, { iscsi: { lun: 0, iscsiInterface: "default" } }],
  [{ iscsi: { iscsiInterface: "i" } }, { iscsi: { iscsiInterface: "i" } }],
  [{ rbd: {} }, { rbd: { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" } }],
  [{ rbd: { pool: "", user: "u" } }, { rbd: { pool: "rbd", user: "u", keyring: "/etc/ceph/keyring" } }],
  [
    { azureDisk: { diskName: "d" } },
    { azureDisk: { diskName: "d", cachingMode: "ReadWrite", fsType: "ext4", kind: "Shared", readOnly: false } },
  ],
  [
    { azureDisk: { kind: "Managed", readOnly: true } },
    { azureDisk: { kind: "Managed", cachingMode: "ReadWrite", fsType: "ext4", readOnly: true } },
  ],
  [{ scaleIO: {} }, { scaleIO: { storageMode: "ThinProvisioned", fsType: "xfs" } }],
  [claim({}), claim({ volumeMode: "Filesystem" })],
  [claim({ volumeMode: "Block" }), claim({ volumeMode: "Block" })],
  [{ ephemeral: {} }, { ephemeral: {} }],
])("the volume source %j becomes %j", (source, expected) => {
  expect(defaultVolume({ name: "v", ...source })).toEqual({ name: "v", ...expected });
});
