/**
 * The GPUs of the machine, from /sys, /dev and the directory of NVIDIA's driver in /proc. Looks every second at GPUs and new
 * PCI devices alone. Bounds: MAX_PCI_DEVICES entries, MAX_GPUS GPUs, MAX_TEXT bytes of a file, one look at a time; a look that
 * takes longer than LOOK_MS makes all GPUs unhealthy.
 */
import * as fs from "node:fs/promises";
import { basename, join } from "node:path";
import { defer, distinctUntilChanged, type Observable, of, scan } from "rxjs";
import { type Gpu, gpusOf, isGpu, isPciAddress, MAX_GPUS, nodesToCheck, type PciDevice } from "../core/gpu/gpus.ts";
import { withVanished } from "../core/gpu/gpus.ts";
import { sameValue } from "../core/sameValue.ts";
import { namesIn } from "../fileSystem/listDirectory.ts";
import { readWhole } from "../fileSystem/regularFile.ts";
import { deadline } from "../operators/deadline.ts";
import { fromCall } from "../operators/fromCall.ts";
import { orElse } from "../operators/orElse.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";

const LOOK_EVERY_MS = 1_000;
const LOOK_MS = 5_000;
const MAX_PCI_DEVICES = 16_384;
/** Entries of `drm` of one device. */
const MAX_DRM = 64;
const MAX_TEXT = 4_096;

/** Emits the GPUs of the tree below `root` when they change. Never errors, never completes. */
export function watchGpus(root: string, clock: Clock): Observable<readonly Gpu[]> {
  return defer(() => {
    const look = createLook(root);
    return pollAfter(clock, LOOK_EVERY_MS, () =>
      fromCall(look).pipe(
        deadline(LOOK_MS, clock),
        orElse(() => of([])),
      ),
    );
  }).pipe(scan<readonly Gpu[], readonly Gpu[]>(withVanished, []), distinctUntilChanged<readonly Gpu[]>(sameValue));
}

/** Returns a function that looks at the tree. A look that has not ended is joined: it holds a thread. */
export function createLook(root: string): () => Promise<readonly Gpu[]> {
  /** PCI devices of other kinds, which are not looked at again. */
  let others: ReadonlySet<string> = new Set();
  let running: Promise<readonly Gpu[]> | undefined;
  const look = async (): Promise<readonly Gpu[]> => {
    const directory = join(root, "sys/bus/pci/devices");
    const names = (await namesIn(directory, MAX_PCI_DEVICES).catch(() => [])).filter(isPciAddress).sort();
    const devices: PciDevice[] = [];
    const known = new Set(names.filter((name) => others.has(name)));
    for (const name of names) {
      if (known.has(name) || devices.length === MAX_GPUS) continue;
      const device = await readPciDevice(root, join(directory, name), name);
      if (isGpu(device)) devices.push(device);
      else if (device.vendor !== undefined) known.add(name);
    }
    others = known;
    const nodes = new Set<string>();
    for (const path of nodesToCheck(devices)) if (await isCharacterDevice(join(root, path))) nodes.add(path);
    return gpusOf(devices, nodes);
  };
  return () => {
    running ??= look().finally(() => {
      running = undefined;
    });
    return running;
  };
}

async function readPciDevice(root: string, directory: string, address: string): Promise<PciDevice> {
  const text = (path: string): Promise<string | undefined> =>
    readWhole(path, MAX_TEXT).then(
      (content) => content.toString("utf8").trim(),
      () => undefined,
    );
  const kind = { vendor: await text(join(directory, "vendor")), class: await text(join(directory, "class")) };
  if (!isGpu(kind))
    return { address, ...kind, driver: undefined, numaNode: undefined, drm: [], information: undefined };
  return {
    ...{ address, ...kind },
    driver: await fs.readlink(join(directory, "driver")).then(basename, () => undefined),
    numaNode: await text(join(directory, "numa_node")),
    drm: [...(await namesIn(join(directory, "drm"), MAX_DRM).catch(() => []))].sort(),
    information: await text(join(root, "proc/driver/nvidia/gpus", address, "information")),
  };
}

const isCharacterDevice = (path: string): Promise<boolean> =>
  fs.lstat(path).then(
    (found) => found.isCharacterDevice(),
    () => false,
  );
