import { describe, expect, it } from "vitest";
import { isMigrated, migratedInline, migratedPersistent } from "../../../../src/core/csi/migratedVolumes.ts";
import type { Volume } from "../../../../src/core/volume/volumeLayout.ts";

type PersistentVolume = Parameters<typeof migratedPersistent>[0];
type Spec = NonNullable<PersistentVolume["spec"]>;

const inline = (source: Omit<Volume, "name">) => migratedInline({ name: "v", ...source }, "demo");
const persistent = (spec: Spec, metadata: PersistentVolume["metadata"] = {}) =>
  migratedPersistent({ metadata: { name: "pv1", ...metadata }, spec: { claimRef: { uid: "c1" }, ...spec } });
const failed = (why: string) => ({ ok: false, error: { message: `failed to translate in-tree pv to CSI: ${why}` } });

const DISK = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d";
const SECRET = { name: "azure-storage-account-a-secret", namespace: "demo" };

it.each([
  ["aws:///vol-1", "vol-1"],
  ["aws://zone//vol-1//", "vol-1"],
  ["aws://zone/", "aws://zone/"],
])("reads the handle of the EBS volume %s", (volumeID, handle) => {
  const found = inline({ awsElasticBlockStore: { volumeID } });
  const volumeHandle = found?.ok === true ? found.value.csi?.source?.volumeHandle : volumeID;
  expect(volumeHandle).toBe(handle);
});

it.each([
  ["azure-storage-account-a-secret", "a"],
  ["azure-storage-account-a-secret-secret", "a-secret"],
  ["x-azure-storage-account-a-secrets", "a"],
  ["azure-storage-account--secret", "azure-storage-account--secret"],
  ["-secret-azure-storage-account-a", "-secret-azure-storage-account-a"],
  ["other", "other"],
])("reads the storage account of the secret %s", (secretName, account) => {
  const found = inline({ azureFile: { secretName, shareName: "s" } });
  expect(found).toMatchObject({ value: { name: `#${account}#s#v#demo` } });
});

it("translates hostile names of a MiB each in linear time", () => {
  const slashes = `aws://a/vol-1${"/".repeat(2 ** 20)}x`;
  expect(inline({ awsElasticBlockStore: { volumeID: slashes } })?.ok).toBe(false);
  const secretName = "azure-storage-account-".repeat(2 ** 15);
  expect(inline({ azureFile: { secretName, shareName: "s" } })).toMatchObject({
    value: { name: `#${secretName}#s#v#demo` },
  });
});

describe("a migrated volume of a pod", () => {
  it.each<[Omit<Volume, "name">, string, string, object]>([
    [
      { awsElasticBlockStore: { volumeID: "aws://us-east-1a/vol-1", partition: 2, readOnly: true } },
      "ebs.csi.aws.com-vol-1",
      "ebs.csi.aws.com",
      { volumeHandle: "vol-1", readOnly: true, volumeAttributes: { partition: "2" }, accessModes: ["ReadWriteOnce"] },
    ],
    [
      { gcePersistentDisk: { pdName: "d", fsType: "ext4", readOnly: true } },
      "pd.csi.storage.gke.io-d",
      "pd.csi.storage.gke.io",
      {
        volumeHandle: "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d",
        ...{ fsType: "ext4", readOnly: true },
        ...{ volumeAttributes: { partition: "" }, accessModes: ["ReadOnlyMany"] },
      },
    ],
    [
      { azureDisk: { diskName: "d", diskURI: DISK, kind: "Managed", cachingMode: "None", fsType: "xfs" } },
      DISK,
      "disk.csi.azure.com",
      {
        ...{ volumeHandle: DISK, fsType: "xfs", accessModes: ["ReadWriteOnce"] },
        volumeAttributes: { kind: "Managed", cachingmode: "None", fstype: "xfs" },
      },
    ],
    [
      { azureFile: { secretName: SECRET.name, shareName: "s" } },
      "#a#s#v#demo",
      "file.csi.azure.com",
      {
        ...{ volumeHandle: "#a#s#v#demo", volumeAttributes: { sharename: "s" } },
        ...{ nodeStageSecretRef: SECRET, accessModes: ["ReadWriteMany"] },
      },
    ],
    [
      { cinder: { volumeID: "c", fsType: "ext4" } },
      "cinder.csi.openstack.org-c",
      "cinder.csi.openstack.org",
      { volumeHandle: "c", fsType: "ext4", volumeAttributes: {}, accessModes: ["ReadWriteOnce"] },
    ],
    [
      { vsphereVolume: { volumePath: "[store] k/d.vmdk", storagePolicyName: "gold" } },
      "csi.vsphere.vmware.com-[store] k/d.vmdk",
      "csi.vsphere.vmware.com",
      {
        ...{ volumeHandle: "[store] k/d.vmdk", accessModes: ["ReadWriteOnce"] },
        volumeAttributes: { storagepolicyname: "gold" },
      },
    ],
    [
      { portworxVolume: { volumeID: "p", readOnly: true } },
      "pxd.portworx.com-p",
      "pxd.portworx.com",
      { volumeHandle: "p", volumeAttributes: {}, accessModes: ["ReadOnlyMany"] },
    ],
  ])("%j", (source, name, driver, expected) => {
    expect(isMigrated(source)).toBe(true);
    expect(inline(source)).toEqual({
      ok: true,
      value: { name, csi: { driver, mode: "Persistent", source: expected, isMigrated: true } },
    });
  });

  it.each<[Omit<Volume, "name">, string]>([
    [
      { awsElasticBlockStore: { volumeID: "aws://us-east-1a/disk" } },
      "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://us-east-1a/disk)",
    ],
    [
      { azureDisk: { diskName: "d", diskURI: DISK, kind: "Dedicated" } },
      "kind(Dedicated) is not supported in csi migration",
    ],
  ])("is refused: %j", (source, why) => expect(inline(source)).toMatchObject(failed(why)));

  it("is any other kind unchanged", () => {
    expect([inline({ emptyDir: {} }), isMigrated({})]).toEqual([undefined, false]);
  });
});

describe("a migrated PersistentVolume", () => {
  const csiOf = (spec: Spec, metadata?: PersistentVolume["metadata"]) => {
    const made = persistent(spec, metadata);
    return made.ok ? made.value.spec?.csi : made.error.message;
  };

  it.each<[string, Spec, PersistentVolume["metadata"], unknown]>([
    [
      "has no access mode of its own",
      { awsElasticBlockStore: { volumeID: "vol-1" } },
      {},
      { driver: "ebs.csi.aws.com", volumeHandle: "vol-1", volumeAttributes: { partition: "0" } },
    ],
    [
      "of GCE is in the zone of its label",
      { gcePersistentDisk: { pdName: "d" } },
      { labels: { "topology.kubernetes.io/zone": "us-east1-b" } },
      expect.objectContaining({ volumeHandle: "projects/UNSPECIFIED/zones/us-east1-b/disks/d" }),
    ],
    [
      "of GCE with several zones is in their region",
      { gcePersistentDisk: { pdName: "d" } },
      { labels: { "failure-domain.beta.kubernetes.io/zone": "us-east1-b__us-east1-c" } },
      expect.objectContaining({ volumeHandle: "projects/UNSPECIFIED/regions/us-east1/disks/d" }),
    ],
    [
      "of GCE is refused with zones of several regions",
      { gcePersistentDisk: { pdName: "d" } },
      { labels: { "topology.kubernetes.io/zone": "us-east1-b__us-west1-c" } },
      "failed to translate in-tree pv to CSI: failed to get region from zones: multiple or no regions gotten from zones, got: [us-east1 us-west1]",
    ],
    [
      "of GCE is refused with a malformed zone",
      { gcePersistentDisk: { pdName: "d" } },
      { labels: { "topology.kubernetes.io/zone": "us-east1-b__mars" } },
      "failed to translate in-tree pv to CSI: failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: mars",
    ],
    [
      "of Azure keeps an empty caching mode",
      { azureDisk: { diskName: "d", diskURI: DISK, cachingMode: "" } },
      {},
      expect.objectContaining({ volumeAttributes: { kind: "Managed", cachingmode: "" } }),
    ],
    [
      "of Azure File has its group, and the secret of its namespace",
      { azureFile: { secretName: "plain", shareName: "s", secretNamespace: "vault" } },
      { annotations: { "kubernetes.io/azure-file-resource-group": "g" } },
      {
        driver: "file.csi.azure.com",
        volumeHandle: "g#plain#s#pv1#vault",
        volumeAttributes: { sharename: "s" },
        nodeStageSecretRef: { name: "plain", namespace: "vault" },
      },
    ],
    [
      "of Azure File has the secret of its claim",
      { azureFile: { secretName: SECRET.name, shareName: "s" }, claimRef: { uid: "c1", namespace: "demo" } },
      {},
      expect.objectContaining({ nodeStageSecretRef: SECRET }),
    ],
    [
      "of Azure File is refused without a namespace",
      { azureFile: { secretName: "s", shareName: "s" } },
      {},
      "failed to translate in-tree pv to CSI: could not find a secret namespace in PersistentVolumeSource or ClaimRef",
    ],
    [
      "of Portworx has the secret of its annotations",
      { portworxVolume: { volumeID: "p" } },
      { annotations: { "openstorage.io/auth-secret-name": "s", "openstorage.io/auth-secret-namespace": "n" } },
      {
        driver: "pxd.portworx.com",
        volumeHandle: "p",
        volumeAttributes: {},
        nodeStageSecretRef: { name: "s", namespace: "n" },
        nodePublishSecretRef: { name: "s", namespace: "n" },
      },
    ],
  ])("%s", (_rule, spec, metadata, expected) => expect(csiOf(spec, metadata)).toEqual(expected));

  it.each([
    [["ReadWriteMany"], ["ReadWriteOnce"]],
    [["ReadOnlyMany", "ReadWriteOnce"], ["ReadWriteOnce"]],
    [["ReadOnlyMany"], ["ReadOnlyMany"]],
    [["ReadWriteOncePod"], ["ReadWriteOnce"]],
  ])("of GCE with access modes %j has %j", (accessModes, expected) => {
    const made = persistent({ gcePersistentDisk: { pdName: "d" }, accessModes });
    expect(made.ok && made.value.spec?.accessModes).toEqual(expected);
  });

  it("is on the nodes with its zone, in the driver's label", () => {
    const terms = [{ matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["a"] }] }];
    const made = persistent({
      cinder: { volumeID: "c" },
      accessModes: ["ReadWriteOnce"],
      nodeAffinity: { required: { nodeSelectorTerms: terms } },
    });
    expect(made.ok && made.value.spec?.nodeAffinity?.required?.nodeSelectorTerms).toEqual([
      { matchExpressions: [{ key: "topology.cinder.csi.openstack.org/zone", operator: "In", values: ["a"] }] },
    ]);
  });

  it("is the same object for any other kind", () => {
    const volume = { metadata: { name: "pv1" }, spec: { nfs: { server: "s", path: "/" } } };
    expect(migratedPersistent(volume)).toEqual({ ok: true, value: volume });
  });
});
