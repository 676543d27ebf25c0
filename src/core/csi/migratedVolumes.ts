/**
 * Translates in-tree volumes of clouds, in pods and in PersistentVolumes, to volumes of CSI drivers (CSI migration).
 * Upstream: k8s.io/csi-translation-lib.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import type { CsiSource, SecretName } from "../volume/csiVolume.ts";
import type { Volume, VolumeOrigin } from "../volume/volumeLayout.ts";
import { type DriverTopology, migratedTerms, ZONE_DELIMITER } from "./migratedTopology.ts";

type PersistentVolume = ApiObjects["persistentvolumes"];
/** The fields of a volume, one of which is set. */
type Sources = Pick<NonNullable<PersistentVolume["spec"]>, (typeof KINDS)[number]>;

const KINDS = [
  ...(["awsElasticBlockStore", "gcePersistentDisk", "azureDisk", "azureFile"] as const),
  ...(["cinder", "vsphereVolume", "portworxVolume"] as const),
] as const;

/** The place that names a volume: a pod, or a PersistentVolume. */
interface Place {
  /** Name of the volume in its pod, or of the PersistentVolume. */
  readonly name: string;
  /** undefined for a volume of a pod. */
  readonly volume: PersistentVolume | undefined;
  readonly namespace: string;
}

/** A volume in the terms of its driver. */
interface Migrated {
  /** Names the volume of a pod; undefined: driver and handle. */
  readonly name?: string;
  readonly source: CsiSource;
}

/** Translates one kind of volume. */
interface Migration {
  readonly driver: string;
  readonly topology?: DriverTopology;
  /** Returns undefined for another kind. */
  migrate(source: Sources, place: Place): Result<Migrated> | undefined;
}

const refuse = (why: string): Result<never> =>
  err(kubeletError("InvalidArgument", `failed to translate in-tree pv to CSI: ${why}`, { reason: "FailedMount" }));

const migrated = (source: CsiSource, name?: string): Result<Migrated> =>
  ok(name === undefined ? { source } : { name, source });

/** Returns the fields that are set. */
const basic = ({ fsType, readOnly }: { readonly fsType?: string; readonly readOnly?: boolean }) => ({
  ...(fsType === undefined ? {} : { fsType }),
  ...(readOnly === undefined ? {} : { readOnly }),
});

const once = ({ volume }: Place): Pick<CsiSource, "accessModes"> =>
  volume === undefined ? { accessModes: ["ReadWriteOnce"] } : {};

const onceOrReadOnly = ({ volume }: Place, readOnly: boolean | undefined): Pick<CsiSource, "accessModes"> =>
  volume === undefined ? { accessModes: [readOnly === true ? "ReadOnlyMany" : "ReadWriteOnce"] } : {};

const EBS_URL = "aws://";

/** Returns the last part of aws://ZONE/HANDLE; undefined for a plain handle. Linear, unlike an expression. */
function handleOfUrl(volumeID: string): string | undefined {
  if (!volumeID.startsWith(EBS_URL)) return undefined;
  let start = volumeID.indexOf("/", EBS_URL.length);
  if (start < 0) return "";
  let end = volumeID.length;
  while (start < end && volumeID[start] === "/") start += 1;
  while (end > start && volumeID[end - 1] === "/") end -= 1;
  return volumeID.slice(start, end);
}

const EBS: Migration = {
  driver: "ebs.csi.aws.com",
  topology: { zone: "topology.ebs.csi.aws.com/zone" },
  migrate({ awsElasticBlockStore: source }, place) {
    if (source === undefined) return undefined;
    const { volumeID, partition = 0 } = source;
    const named = handleOfUrl(volumeID);
    if (named !== undefined && !/^vol-[^/]*$/.test(named)) {
      return refuse(`failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (${volumeID})`);
    }
    const volumeAttributes = { partition: String(partition) };
    return migrated({ volumeHandle: named ?? volumeID, ...basic(source), volumeAttributes, ...once(place) });
  },
};

const UNSPECIFIED = "UNSPECIFIED";

const GCE: Migration = {
  driver: "pd.csi.storage.gke.io",
  topology: { zone: "topology.gke.io/zone" },
  migrate({ gcePersistentDisk: source }, place) {
    if (source === undefined) return undefined;
    const { pdName, partition = 0, readOnly } = source;
    const where = gcePlace(place.volume?.metadata?.labels ?? {});
    if (!where.ok) return where;
    const modes = place.volume?.spec?.accessModes;
    return migrated(
      {
        volumeHandle: `projects/${UNSPECIFIED}/${where.value}/disks/${pdName}`,
        ...basic(source),
        volumeAttributes: { partition: partition === 0 ? "" : String(partition) },
        ...onceOrReadOnly(place, readOnly),
        ...(modes === undefined ? {} : { accessModes: [gceMode(modes)] }),
      },
      `pd.csi.storage.gke.io-${pdName}`,
    );
  },
};

/** A disk was never writable on several nodes, whatever its volume says. */
const gceMode = (modes: readonly string[]): string =>
  modes.includes("ReadOnlyMany") && !modes.some((mode) => mode === "ReadWriteOnce" || mode === "ReadWriteMany")
    ? "ReadOnlyMany"
    : "ReadWriteOnce";

function gcePlace(labels: Readonly<Record<string, string>>): Result<string> {
  const label = labels["failure-domain.beta.kubernetes.io/zone"] || labels["topology.kubernetes.io/zone"] || "";
  const zones = label.split(ZONE_DELIMITER);
  if (zones.length === 1) return ok(`zones/${label === "" ? UNSPECIFIED : label}`);
  const failed = "failed to get region from zones:";
  const odd = zones.find((zone) => zone.split("-").length !== 3);
  if (odd !== undefined) {
    return refuse(`${failed} zone in unexpected format, expected: {locale}-{region}-{zone}, got: ${odd}`);
  }
  const regions = new Set(zones.map((zone) => zone.split("-").slice(0, 2).join("-")));
  const [region = ""] = regions;
  return regions.size === 1
    ? ok(`regions/${region}`)
    : refuse(`${failed} multiple or no regions gotten from zones, got: [${[...regions].join(" ")}]`);
}

const AZURE_DISK: Migration = {
  driver: "disk.csi.azure.com",
  migrate({ azureDisk: source }, place) {
    if (source === undefined) return undefined;
    const { diskURI, kind = "Managed", cachingMode, fsType } = source;
    if (kind.toLowerCase() !== "managed") return refuse(`kind(${kind}) is not supported in csi migration`);
    const hasCaching = cachingMode !== undefined && (cachingMode !== "" || place.volume !== undefined);
    const volumeAttributes = {
      kind: "Managed",
      ...(hasCaching ? { cachingmode: cachingMode } : {}),
      ...(fsType === undefined ? {} : { fstype: fsType }),
    };
    return migrated({ volumeHandle: diskURI, ...basic(source), volumeAttributes, ...once(place) }, diskURI);
  },
};

const AZURE_FILE: Migration = {
  driver: "file.csi.azure.com",
  migrate({ azureFile: source }, { name, volume, namespace }) {
    if (source === undefined) return undefined;
    const { secretName, shareName } = source;
    const group = volume?.metadata?.annotations?.["kubernetes.io/azure-file-resource-group"] ?? "";
    const claimed = source.secretNamespace ?? volume?.spec?.claimRef?.namespace ?? "";
    const owner = volume === undefined ? namespace || "default" : claimed;
    if (owner === "") return refuse("could not find a secret namespace in PersistentVolumeSource or ClaimRef");
    const volumeHandle = [group, storageAccount(secretName), shareName, name, owner].join("#");
    return migrated(
      {
        volumeHandle,
        ...basic(source),
        volumeAttributes: { sharename: shareName },
        nodeStageSecretRef: { name: secretName, namespace: owner },
        ...(volume === undefined ? { accessModes: ["ReadWriteMany"] } : {}),
      },
      volumeHandle,
    );
  },
};

/** Returns the account that the driver's name of a secret contains, or else the name. Linear, unlike an expression. */
function storageAccount(secretName: string): string {
  const [prefix, suffix] = ["azure-storage-account-", "-secret"];
  const start = secretName.indexOf(prefix) + prefix.length;
  const end = secretName.lastIndexOf(suffix);
  return start >= prefix.length && end > start ? secretName.slice(start, end) : secretName;
}

const CINDER: Migration = {
  driver: "cinder.csi.openstack.org",
  topology: { zone: "topology.cinder.csi.openstack.org/zone" },
  migrate: ({ cinder: source }, place) =>
    source && migrated({ volumeHandle: source.volumeID, ...basic(source), volumeAttributes: {}, ...once(place) }),
};

const VSPHERE: Migration = {
  driver: "csi.vsphere.vmware.com",
  topology: { zone: "topology.csi.vmware.com/zone", region: "topology.csi.vmware.com/region" },
  migrate({ vsphereVolume: source }, place) {
    if (source === undefined) return undefined;
    const { volumePath, storagePolicyName = "", fsType } = source;
    const volumeAttributes = storagePolicyName === "" ? {} : { storagepolicyname: storagePolicyName };
    return migrated({ volumeHandle: volumePath, ...(fsType && { fsType }), volumeAttributes, ...once(place) });
  },
};

const PORTWORX: Migration = {
  driver: "pxd.portworx.com",
  migrate({ portworxVolume: source }, place) {
    if (source === undefined) return undefined;
    const { volumeID, fsType, readOnly } = source;
    const secret = portworxSecret(place.volume?.metadata?.annotations ?? {});
    return migrated({
      volumeHandle: volumeID,
      ...(fsType === undefined ? {} : { fsType }),
      volumeAttributes: {},
      ...(secret && { nodeStageSecretRef: secret, nodePublishSecretRef: secret }),
      ...onceOrReadOnly(place, readOnly),
    });
  },
};

function portworxSecret(annotations: Readonly<Record<string, string>>): SecretName | undefined {
  const [name, namespace] = [
    annotations["openstorage.io/auth-secret-name"],
    annotations["openstorage.io/auth-secret-namespace"],
  ];
  return name === undefined || namespace === undefined ? undefined : { name, namespace };
}

const MIGRATIONS: readonly Migration[] = [EBS, GCE, AZURE_DISK, AZURE_FILE, CINDER, VSPHERE, PORTWORX];

/** Returns whether a CSI driver replaces the kind of this volume. */
export const isMigrated = (source: Sources): boolean => KINDS.some((kind) => source[kind] !== undefined);

function findMigration(source: Sources, place: Place) {
  for (const migration of MIGRATIONS) {
    const found = migration.migrate(source, place);
    if (found !== undefined) return { migration, found };
  }
  return undefined;
}

/** Returns the volume of a pod as one of a CSI driver; undefined for a kind without one. */
export function migratedInline(volume: Volume, namespace: string): Result<VolumeOrigin> | undefined {
  const known = findMigration(volume, { name: volume.name, volume: undefined, namespace });
  if (known === undefined) return undefined;
  const { found, migration } = known;
  if (!found.ok) return found;
  const { source, name = `${migration.driver}-${source.volumeHandle ?? ""}` } = found.value;
  return ok({ name, csi: { driver: migration.driver, mode: "Persistent", source, isMigrated: true } });
}

/** Returns the PersistentVolume as one of a CSI driver; unchanged for a kind without one. */
export function migratedPersistent(volume: PersistentVolume): Result<PersistentVolume> {
  const { metadata = {}, spec = {} } = volume;
  const known = findMigration(spec, { name: metadata.name ?? "", volume, namespace: "" });
  if (known === undefined) return ok(volume);
  const { found, migration } = known;
  if (!found.ok) return found;
  const { accessModes = spec.accessModes, ...source } = found.value.source;
  const { topology, driver } = migration;
  const before = spec.nodeAffinity?.required?.nodeSelectorTerms;
  const terms = topology === undefined ? before : migratedTerms(before, metadata.labels ?? {}, topology);
  const csi = { ...source, driver, volumeHandle: source.volumeHandle ?? "" };
  return ok({
    ...volume,
    spec: {
      ...spec,
      csi,
      ...(accessModes && { accessModes }),
      ...(terms && { nodeAffinity: { required: { nodeSelectorTerms: terms } } }),
    },
  } as PersistentVolume);
}
