/**
 * Kill -9 of the kubelet or the driver at every step of an expansion, over a real socket on a real loop device: afterwards the
 * volume and its claim have the new size, and nothing is mounted twice.
 */
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { NEVER, type Observable, of } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CsiDriverCall, startCsiDriver, type TestCsiDriver } from "../support/csiDriver.ts";
import { CSI_NAME, type CsiNode, startCsiNode } from "../support/csiNode.ts";
import { type LoopDevice, loopDevice, mayGrowMounted, missingForLoopDevices } from "../support/loopDevice.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { waitFor } from "../support/waitFor.ts";

const MOUNT = { volumeMounts: [{ name: "data", mountPath: "/data" }] };
const OLD = "16Mi";
const NEW = "32Mi";
const CAN = ["STAGE_UNSTAGE_VOLUME", "EXPAND_VOLUME"] as const;
const NEW_BYTES = 32n * 2n ** 20n;

type Status = Record<string, unknown>;

/** Steps of an expansion, in order, and who may die there. */
const STEPS = ["tell the start", "expand", "tell the size"] as const;
type Step = (typeof STEPS)[number];
type Death = readonly [who: "kubelet" | "driver", when: "before" | "after", step: Step];
const DEATHS: readonly Death[] = [
  ...STEPS.flatMap((step) => [["kubelet", "before", step] as const, ["kubelet", "after", step] as const]),
  ["driver", "before", "expand"],
  ["driver", "after", "expand"],
];

describe.skipIf(mustSkip("expansion", [...missingForMounts(), ...missingForLoopDevices()]))("an expansion", () => {
  let place: PrivateMounts;
  let disk: LoopDevice;
  let driver: TestCsiDriver;
  let life: CsiNode | undefined;
  let death: Death | undefined;
  /** The claim's status, and the size of the PersistentVolume. */
  let claim: Status;
  let size: string;
  /** The size of the volume in its driver's storage, which outlives the driver. */
  let expandedTo: bigint;

  const isNow = (who: Death[0], when: Death[1], step: Step): boolean => {
    const isDue = death?.[0] === who && death[1] === when && death[2] === step;
    if (isDue) death = undefined;
    return isDue;
  };
  /** Ends the kubelet or the driver if it dies at this step, whose answer is lost. */
  const dies = (when: Death[1], step: Step): "hang" | undefined => {
    if (isNow("kubelet", when, step)) life?.kill();
    else if (isNow("driver", when, step)) driver.stop();
    else return undefined;
    return "hang";
  };
  const startDriver = async (): Promise<void> => {
    const isExpansion = ({ rpc }: CsiDriverCall): boolean => rpc === "nodeExpandVolume";
    driver = await startCsiDriver(join(place.place, "csi.sock"), {
      capabilities: CAN,
      device: () => disk.device,
      fault: (call) => (isExpansion(call) ? dies("before", "expand") : undefined),
      faultAfter: (call) => (isExpansion(call) ? dies("after", "expand") : undefined),
      expand: async (_, bytes) => {
        if (mayGrowMounted()) execFileSync("resize2fs", [disk.device], { stdio: "ignore" });
        expandedTo = bytes;
      },
    });
  };
  const patch = (body: object): Observable<unknown> => {
    const { status } = body as { readonly status: Status };
    const step: Step = "capacity" in status ? "tell the size" : "tell the start";
    if (dies("before", step) !== undefined) return NEVER;
    const merged = Object.entries({ ...claim, ...status }).filter(([, value]) => value !== null);
    claim = Object.fromEntries(merged);
    return dies("after", step) === undefined ? of(objects.persistentvolumeclaims) : NEVER;
  };
  const objects = {
    get persistentvolumeclaims() {
      return {
        metadata: { namespace: "default", name: "c", uid: "c1", resourceVersion: "7" },
        spec: { volumeName: "pv1", resources: { requests: { storage: size } } },
        status: { phase: "Bound", ...claim },
      };
    },
    get persistentvolumes() {
      const csi = { driver: CSI_NAME, volumeHandle: "h1" };
      return { metadata: { name: "pv1" }, spec: { claimRef: { uid: "c1" }, csi, capacity: { storage: size } } };
    },
  };
  const grow = (): void => {
    disk.grow(32);
    size = NEW;
    claim = {
      ...claim,
      allocatedResources: { storage: NEW },
      allocatedResourceStatuses: { storage: "NodeResizePending" },
    };
  };
  const start = async () => {
    life = await startCsiNode({ place, objects, capabilities: CAN, patch, syncPeriodMs: 100 });
    return life.start("a", MOUNT);
  };
  const mounts = async (): Promise<readonly (string | undefined)[]> =>
    (await readFile("/proc/self/mountinfo", "utf8"))
      .split("\n")
      .map((line) => line.split(" ")[4])
      .filter((path) => path?.startsWith(`${place.place}/`))
      .toSorted();

  beforeEach(async () => {
    [place, disk, death] = [privateMounts(), loopDevice(16), undefined];
    [claim, size, expandedTo] = [{ capacity: { storage: OLD } }, OLD, 0n];
    execFileSync("mkfs.ext4", ["-q", disk.device]);
    await startDriver();
  });
  afterEach(async () => {
    life?.kill();
    driver.stop();
    try {
      await driver.release();
    } finally {
      place.close();
      disk.detach();
    }
  });

  /** Waits until somebody has died, and brings it back. */
  const recover = async ([who]: Death): Promise<void> => {
    await waitFor(`the death of the ${who}`, () => death === undefined);
    if (who === "driver") await startDriver();
    else await (await start()).until("mounted");
  };
  const expectGrown = async (before: readonly unknown[]): Promise<void> => {
    await waitFor("the claim", () => (claim["capacity"] as { readonly storage: string }).storage === NEW);
    expect([claim["allocatedResourceStatuses"], expandedTo, await mounts()]).toEqual([undefined, NEW_BYTES, before]);
    if (!mayGrowMounted()) return;
    const [, kilobytes = "0"] = execFileSync("df", ["--output=size", String(before[0])], { encoding: "utf8" }).split(
      "\n",
    );
    expect(Number(kilobytes)).toBeGreaterThan(24 * 1024);
  };

  it.each(DEATHS)("in use ends although the %s dies %s the step: %s", async (...what) => {
    await (await start()).until("mounted");
    const before = await mounts();
    death = what;
    grow();
    await recover(what);
    await expectGrown(before);
  });

  it.each(DEATHS)("at a set up ends although the %s dies %s the step: %s", async (...what) => {
    const pod = await start();
    await pod.until("mounted");
    const before = await mounts();
    pod.end();
    await pod.gone();
    life?.kill();
    grow();
    death = what;
    await start();
    await recover(what);
    await expectGrown(before);
  });
});
