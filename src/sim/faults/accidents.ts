/**
 * What befalls a node as time goes by: kubelet, runtime and machine go down and come back, disk and network fail for a
 * while, clocks step, containers end, manifests are spoiled. All of it is settled at the start: see FaultDice.
 */
import type { Files } from "../../ports/files.ts";
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import type { Prng } from "../prng.ts";
import type { SimFilesOptions } from "../simFiles.ts";
import type { SimNode } from "../simNode.ts";
import type { WorkloadOwners } from "../workloadOwners.ts";
import type { ApiFaults } from "./apiFaults.ts";
import type { FaultDice } from "./faultDice.ts";
import type { FaultKind } from "./faultKinds.ts";

const MINUTE_MS = 60_000;

/** A disk that may be full. */
export interface SimDiskSpace {
  isFull: boolean;
  readonly fault: NonNullable<SimFilesOptions["fault"]>;
}

/** Makes a disk with room on it. A full one does not mind being asked for a directory it has. */
export function createDiskSpace(hasDirectory: (path: string) => boolean): SimDiskSpace {
  const takesRoom = (operation: keyof Files, path: string): boolean =>
    operation === "writeFile" || operation === "symlink" || (operation === "makeDirectory" && !hasDirectory(path));
  const space: SimDiskSpace = {
    isFull: false,
    fault: (operation, path) => (space.isFull && takesRoom(operation, path) ? "ResourceExhausted" : undefined),
  };
  return space;
}

export interface Accidents {
  /** The kubelet ends so much later, unless it is down by then; it starts again up to a minute later. */
  crashKubelet(afterMs: number, prng: Prng): void;
  /** Everything that is down or broken comes back now. */
  heal(): void;
}

/** Lets accidents happen to a node until `durationMs`. */
export function createAccidents(
  node: SimNode,
  owners: WorkloadOwners,
  disk: SimDiskSpace,
  { server, faults: api }: { readonly server: SimApiServer; readonly faults: ApiFaults },
  dice: FaultDice,
  durationMs: number,
): Accidents {
  let isOff = false;
  const later = (ms: number, action: () => void): void => {
    node.scheduler.schedule(() => {
      if (!dice.isHealed) action();
    }, ms);
  };
  const startKubelet = (): void => {
    if (node.kubelet === undefined && !isOff) node.restartKubelet();
  };
  const crashKubelet = (afterMs: number, prng: Prng): void =>
    later(afterMs, () => {
      if (node.kubelet === undefined) return;
      node.crashKubelet();
      later(prng.int(100, MINUTE_MS), startKubelet);
    });
  const endRuntime = (containers: "stay" | "die", prng: Prng): void => {
    if (!isOff && node.crashRuntime(containers))
      later(prng.int(100, 2 * MINUTE_MS), () => !isOff && node.restartRuntime());
  };
  const reboot = (prng: Prng): void => {
    if (isOff) return;
    isOff = true;
    node.powerOff();
    later(prng.int(5_000, 3 * MINUTE_MS), () => {
      isOff = false;
      // Which of the two is up first is not said.
      later(prng.int(0, 10_000), () => node.restartRuntime());
      later(prng.int(0, 10_000), startKubelet);
    });
  };
  const happenings: Partial<Record<FaultKind, (prng: Prng) => void>> = {
    eventStreamBreaks: () => node.runtime.breakEventStreams("the stream was reset"),
    runtimeCrashes: (prng) => endRuntime("stay", prng),
    runtimeDies: (prng) => endRuntime("die", prng),
    reboot,
    kubeletCrashes: (prng) => crashKubelet(0, prng),
    wallClockSteps: (prng) => {
      const ms = prng.int(-120, 120) * MINUTE_MS;
      node.note(`wall clock steps by ${ms / 1000} s`);
      node.clock.stepWallBy(ms);
    },
    diskFull: (prng) => {
      node.note("disk is full");
      disk.isFull = true;
      later(prng.int(1_000, 5 * MINUTE_MS), () => {
        node.note("disk has room");
        disk.isFull = false;
      });
    },
    networkNotReady: (prng) => {
      node.note("network is not ready");
      node.runtime.setCondition("NetworkReady", "cni plugin not initialized");
      later(prng.int(1_000, 5 * MINUTE_MS), () => node.runtime.setCondition("NetworkReady", ""));
    },
    containerExits: (prng) => {
      const running = node.running();
      if (running.length === 0) return;
      const end = prng.pick([
        { afterMs: 0, code: 137, reason: "OOMKilled" },
        { afterMs: 0, code: 1 },
        { afterMs: 0, code: 0 },
      ]);
      node.kill(prng.pick(running).split("#")[0] ?? "", end);
    },
    sandboxExits: (prng) => {
      const ready = node.runtime.sandboxes().filter((sandbox) => sandbox.ready);
      const names = ready.map(({ config: { metadata } }) => `${metadata?.namespace}/${metadata?.name}`).sort();
      if (names.length > 0) node.killSandbox(prng.pick(names));
    },
    manifestHalfWritten: (prng) => owners.spoilManifest("cut", prng.int(10, MINUTE_MS), prng),
    manifestVanishes: (prng) => owners.spoilManifest("away", prng.int(10, 2 * MINUTE_MS), prng),
    podReplaced: (prng) => owners.replacePod(prng),
    ...api.happenings({ server, later, note: node.note, annotatePod: owners.annotatePod }),
  };
  for (const [kind, happen] of Object.entries(happenings) as [FaultKind, (prng: Prng) => void][]) {
    for (let minute = 0; minute * MINUTE_MS < durationMs; minute += 1) {
      const fault = dice.roll([kind], String(minute));
      if (fault === undefined) continue;
      const atMs = minute * MINUTE_MS + fault.prng.int(0, MINUTE_MS - 1);
      node.at(atMs, () => !dice.isHealed && happen(fault.prng));
    }
  }
  return {
    crashKubelet,
    heal() {
      isOff = false;
      disk.isFull = false;
      api.heal(server);
      node.runtime.setCondition("NetworkReady", "");
      // Calls that would never have answered end here.
      if (!node.runtime.isDown) node.crashRuntime("stay");
      node.restartRuntime();
      startKubelet();
    },
  };
}
