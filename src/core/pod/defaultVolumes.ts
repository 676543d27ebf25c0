/** Defaults of volume sources, one row per source. Upstream: the volume part of pkg/apis/core/v1/defaults.go. */
import type { PodSpec } from "../api.ts";
import { defaultPullPolicy } from "../image/defaultPullPolicy.ts";

type Volume = NonNullable<PodSpec["volumes"]>[number];
type Projection = NonNullable<NonNullable<Volume["projected"]>["sources"]>[number];
type DownwardFile = NonNullable<NonNullable<Volume["downwardAPI"]>["items"]>[number];
type Defaults = {
  readonly [Source in keyof Volume]?: (source: NonNullable<Volume[Source]>) => NonNullable<Volume[Source]>;
};

const FILE_MODE = 0o644;
const TOKEN_LIFETIME_SECONDS = 3600;

const isUnset = (value: unknown): boolean => value === undefined || value === "";

/** Fills the unset members of `source` with defaults. */
function fill<T extends object>(source: T, defaults: Partial<T>): T {
  const kept = Object.entries(source).filter(([key, value]) => !(isUnset(value) && key in defaults));
  return { ...defaults, ...Object.fromEntries(kept) } as T;
}

const downwardFile = (file: DownwardFile): DownwardFile => ({
  ...file,
  ...(file.fieldRef === undefined ? {} : { fieldRef: fill(file.fieldRef, { apiVersion: "v1" }) }),
  ...(file.resourceFieldRef === undefined ? {} : { resourceFieldRef: fill(file.resourceFieldRef, { divisor: "0" }) }),
});

const projection = (source: Projection): Projection => {
  const { serviceAccountToken: token, downwardAPI } = source;
  return {
    ...source,
    ...(token === undefined
      ? {}
      : { serviceAccountToken: { ...token, expirationSeconds: token.expirationSeconds ?? TOKEN_LIFETIME_SECONDS } }),
    ...(downwardAPI?.items === undefined
      ? {}
      : { downwardAPI: { ...downwardAPI, items: downwardAPI.items.map(downwardFile) } }),
  };
};

/** Mode 0 is valid, so modes are defaulted only when absent. */
const DEFAULTS: Defaults = {
  configMap: (source) => ({ ...source, defaultMode: source.defaultMode ?? FILE_MODE }),
  secret: (source) => ({ ...source, defaultMode: source.defaultMode ?? FILE_MODE }),
  downwardAPI: (source) => ({
    ...source,
    defaultMode: source.defaultMode ?? FILE_MODE,
    ...(source.items === undefined ? {} : { items: source.items.map(downwardFile) }),
  }),
  projected: (source) => ({
    ...source,
    defaultMode: source.defaultMode ?? FILE_MODE,
    ...(source.sources === undefined ? {} : { sources: source.sources.map(projection) }),
  }),
  hostPath: (source) => ({ ...source, type: source.type ?? "" }),
  image: (source) => fill(source, { pullPolicy: defaultPullPolicy(source.reference ?? "") }),
  iscsi: (source) => fill(source, { iscsiInterface: "default" }),
  rbd: (source) => fill(source, { pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" }),
  azureDisk: (source) => ({
    ...fill(source, { cachingMode: "ReadWrite", fsType: "ext4", kind: "Shared" }),
    readOnly: source.readOnly ?? false,
  }),
  scaleIO: (source) => fill(source, { storageMode: "ThinProvisioned", fsType: "xfs" }),
  ephemeral: (source) => {
    const template = source.volumeClaimTemplate;
    if (template?.spec === undefined) return source;
    const spec = { ...template.spec, volumeMode: template.spec.volumeMode ?? "Filesystem" };
    return { ...source, volumeClaimTemplate: { ...template, spec } };
  },
};

/** Returns the volume with its source's defaults. A volume without a source is an emptyDir. */
export function defaultVolume(volume: Volume): Volume {
  const sources = Object.keys(volume).filter((key) => key !== "name");
  if (sources.length === 0) return { ...volume, emptyDir: {} };
  const defaulted = (Object.keys(DEFAULTS) as (keyof Volume)[]).flatMap((key) => {
    const source = volume[key];
    const complete = DEFAULTS[key] as ((source: unknown) => unknown) | undefined;
    return source === undefined || complete === undefined ? [] : [[key, complete(source)] as const];
  });
  return { ...volume, ...Object.fromEntries(defaulted) };
}
