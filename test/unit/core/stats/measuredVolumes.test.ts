import { expect, it } from "vitest";
import { measuredVolumes } from "../../../../src/core/stats/measuredVolumes.ts";
import type { Volume, VolumeOrigin } from "../../../../src/core/volume/volumeLayout.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { mountedVolumesOf, volumeNodeOf } from "../../../support/podVolumes.ts";
import { layoutOfFound } from "../../../../src/core/volume/foundVolume.ts";

const VOLUMES: readonly Volume[] = [
  { name: "scratch", emptyDir: {} },
  { name: "fast", emptyDir: { medium: "Memory" } },
  { name: "settings", configMap: { name: "settings" } },
  { name: "login", secret: { secretName: "login" } },
  { name: "about", downwardAPI: { items: [] } },
  { name: "access", projected: { sources: [] } },
  { name: "host", hostPath: { path: "/data" } },
  { name: "share", nfs: { server: "s", path: "/" } },
  { name: "logo", image: { reference: "logo:1" } },
  { name: "disk", persistentVolumeClaim: { claimName: "disk-claim" } },
  { name: "own", ephemeral: {} },
  { name: "net", iscsi: { targetPortal: "10.0.0.1", iqn: "iqn.2003-01.org:a", lun: 0 } },
  { name: "waits", configMap: { name: "missing" } },
] as never;

it("measures the same volumes as upstream, by counting or by the file system of a claim", () => {
  const volumeMounts = VOLUMES.map(({ name }) => ({ name, mountPath: `/${name}` }));
  const pod = podOf({ spec: { volumes: [...VOLUMES], containers: [containerOf({ volumeMounts })] } });
  const mounted = new Map(mountedVolumesOf(pod));
  mounted.delete("waits");
  for (const name of ["disk", "own"]) {
    const layout = layoutOfFound(pod, name, { name: `pv-${name}`, local: { path: "/mnt/d" } }, volumeNodeOf());
    if (layout.ok) mounted.set(name, layout.value);
  }
  const found = measuredVolumes(pod, mounted, () => false).map(({ name, by, hasOwnFs, isEphemeral, pvcRef }) => [
    name,
    by,
    hasOwnFs ? "its own" : "the node's",
    isEphemeral,
    pvcRef?.name,
  ]);
  expect(found).toEqual([
    ["scratch", "du", "the node's", true, undefined],
    ["fast", "du", "its own", false, undefined],
    ["settings", "du", "the node's", true, undefined],
    ["login", "du", "its own", false, undefined],
    ["about", "du", "its own", false, undefined],
    ["access", "du", "its own", false, undefined],
    ["share", "statfs", "its own", false, undefined],
    ["disk", "statfs", "its own", false, "disk-claim"],
    ["own", "statfs", "its own", false, `${pod.metadata.name}-own`],
    ["net", "statfs", "its own", false, undefined],
  ]);
});

it("asks the drivers of CSI volumes, and measures disks and devices by themselves", () => {
  const csi = { driver: "d", mode: "Persistent", known: "absent", source: { volumeHandle: "h" } } as const;
  const origins: Readonly<Record<string, Omit<VolumeOrigin, "name">>> = {
    csi: { csi },
    "csi-device": { csi, isBlock: true },
    device: { local: { path: "/dev/sdb" }, isBlock: true },
    disk: { fc: { targetWWNs: ["w"], lun: 0 } },
  };
  const names = Object.keys(origins);
  const volumes = names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const isDevice = (name: string): boolean => origins[name]?.isBlock === true;
  const volumeMounts = names.filter((name) => !isDevice(name)).map((name) => ({ name, mountPath: `/${name}` }));
  const volumeDevices = names.filter(isDevice).map((name) => ({ name, devicePath: `/dev/${name}` }));
  const pod = podOf({ uid: "u", spec: { volumes, containers: [containerOf({ volumeMounts, volumeDevices })] } });
  const node = volumeNodeOf({ directories: { rootDir: "/k" }, csi: { nodeName: "n" } });
  const mounted = new Map(
    Object.entries(origins).flatMap(([name, origin]) => {
      const layout = layoutOfFound(pod, name, { ...origin, name: `pv-${name}` }, node);
      return layout.ok ? [[name, layout.value] as const] : [];
    }),
  );
  const found = measuredVolumes(pod, mounted, () => false).map(({ name, by, path, isRemote, pvcRef }) => [
    ...[name, by, path, isRemote ? "remote" : "", pvcRef?.name],
  ]);
  expect(found).toEqual([
    ["csi", "csi", "/k/pods/u/volumes/kubernetes.io~csi/pv-csi/mount", "", "csi"],
    ["csi-device", "csi", "/k/plugins/kubernetes.io/csi/volumeDevices/pv-csi-device/dev/u", "", "csi-device"],
    ["device", "block", "/k/plugins/kubernetes.io~local-volume/volumeDevices/pv-device/u", "", "device"],
    ["disk", "statfs", "/k/pods/u/volumes/kubernetes.io~fc/pv-disk", "remote", "disk"],
  ]);
});

it("measures a flexVolume if its driver says that it can be", () => {
  const volumes: readonly Volume[] = ["a", "b"].map((name) => ({ name, flexVolume: { driver: `acme/${name}` } }));
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
  const pod = podOf({ spec: { volumes: [...volumes], containers: [containerOf({ volumeMounts })] } });
  const found = measuredVolumes(pod, mountedVolumesOf(pod), (driver) => driver === "acme/b");
  expect(found).toMatchObject([{ name: "b", by: "statfs", isRemote: true, isEphemeral: false }]);
});
