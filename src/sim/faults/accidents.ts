/**
 * The accidents of a node over time: kubelet, runtime and machine go down and return, disk and network fail for a
 * while, clocks step and drift, containers end, manifests are corrupted. The seed determines all of them at the
 * start: see FaultDice.
 */
import type { SimApiServer } from "../apiServer/simApiServer.ts";
import type { Prng } from "../prng.ts";
import { ALL_THERE_IS, type SimFill } from "../host/simDisk.ts";
import type { SimNode } from "../simNode.ts";
import type { WorkloadOwners } from "../workload/workloadOwners.ts";
import type { ApiFaults } from "./apiFaults.ts";
import type { FaultDice } from "./faultDice.ts";
import type { FaultKind } from "./faultKinds.ts";
import type { SimHardware } from "../hardware/simHardware.ts";
import type { SimStorage } from "../storage/simStorage.ts";
import { hardwareAccidents } from "./hardwareFaults.ts";
import { createOutages, type Later, type Outages } from "./outages.ts";
import type { PageFaults } from "./pageFaults.ts";
import type { Shutdowns } from "./shutdownFaults.ts";
import { storageAccidents } from "./storageFaults.ts";
import { createResourceFaults } from "./resourceFaults.ts";

const MINUTE_MS = 60_000;
/** Upper bound on temporary failures. */
const LONGEST_MS = 5 * MINUTE_MS;
/** Clock drift of 1 %, worse than any real clock. */
const MOST_DRIFT_PPM = 10_000;
/** Name of the writer that fills the disk. */
const FILLER = "accidents";

type Accident = (prng: Prng) => void;
type AccidentTable = Readonly<Partial<Record<FaultKind, Accident>>>;

export interface Accidents {
  /** See Outages. */
  readonly crashKubelet: Outages["crashKubelet"];
  readonly reboot: Outages["reboot"];
  /** Recovers all that is down or broken. */
  heal(): void;
}

/** Targets of accidents; faults of missing targets do not happen. */
export interface Surroundings {
  readonly owners?: Pick<WorkloadOwners, "spoilManifest" | "replacePod" | "takeResources" | "annotatePod">;
  readonly page?: PageFaults;
  readonly api?: { readonly server: SimApiServer; readonly faults: ApiFaults };
  readonly hardware?: SimHardware | undefined;
  readonly storage?: SimStorage | undefined;
  readonly shutdowns?: Shutdowns | undefined;
}

/** Causes accidents on a node until `durationMs`. */
export function createAccidents(
  node: SimNode,
  surroundings: Surroundings,
  dice: FaultDice,
  durationMs: number,
): Accidents {
  const later: Later = (ms, action) => {
    node.scheduler.schedule(() => {
      if (!dice.isHealed) action();
    }, ms);
  };
  const { owners, page, api, hardware, storage, shutdowns } = surroundings;
  const outages = createOutages(node, later);
  const resources = createResourceFaults(node);
  const { apiAway, ...apiAccidents } = apiHappenings(node, api, owners, later);
  const accidents: AccidentTable = {
    runtimeCrashes: (prng) => outages.endRuntime("stay", prng),
    runtimeDies: (prng) => outages.endRuntime("die", prng),
    reboot: (prng) => outages.reboot(prng),
    kubeletCrashes: (prng) => outages.crashKubelet(0, prng),
    ...surroundingAccidents(node, page, later),
    ...apiAccidents,
    ...(apiAway && {
      offlineBoot: (prng: Prng) => {
        apiAway(prng);
        outages.reboot(prng);
      },
    }),
    ...containerAccidents(node),
    ...resources.accidents,
    ...(owners && ownerAccidents(owners)),
    ...(hardware && hardwareAccidents(node, hardware, later)),
    ...(storage && storageAccidents(node, storage, later)),
    ...(shutdowns && { nodeShutsDown: (prng: Prng) => shutdowns.begin(prng, later) }),
  };
  for (const [kind, happen] of Object.entries(accidents) as [FaultKind, Accident][]) {
    for (let minute = 0; minute * MINUTE_MS < durationMs; minute += 1) {
      const fault = dice.roll([kind], String(minute));
      if (fault === undefined) continue;
      const atMs = minute * MINUTE_MS + fault.prng.int(0, MINUTE_MS - 1);
      node.at(atMs, () => !dice.isHealed && happen(fault.prng));
    }
  }
  return {
    crashKubelet: outages.crashKubelet,
    reboot: outages.reboot,
    heal() {
      shutdowns?.cancel();
      node.host.disk.fill("/", FILLER, {});
      resources.heal();
      page?.comeBack();
      hardware?.heal();
      storage?.heal();
      api?.faults.heal(api.server);
      if (api !== undefined) node.see({ kind: "apiServer", isUp: true });
      node.clock.setDriftPpm(0);
      node.runtime.setCondition("NetworkReady", "");
      outages.heal();
    },
  };
}

const apiHappenings = (
  node: SimNode,
  api: Surroundings["api"],
  owners: Surroundings["owners"],
  later: Later,
): Partial<ReturnType<ApiFaults["happenings"]>> =>
  api?.faults.happenings({
    server: api.server,
    later,
    note: node.note,
    observeServer: (isUp) => node.see({ kind: "apiServer", isUp }),
    annotatePod: (prng) => void owners?.annotatePod(prng),
  }) ?? {};

function surroundingAccidents(node: SimNode, page: PageFaults | undefined, later: Later): AccidentTable {
  const forAWhile = (what: string, prng: Prng, broken: () => void, mended: () => void): void => {
    node.note(`${what} fails`);
    broken();
    later(prng.int(1_000, LONGEST_MS), () => {
      node.note(`${what} is back`);
      mended();
    });
  };
  return {
    eventStreamBreaks: () => node.runtime.breakEventStreams("the stream was reset"),
    wallClockSteps: (prng) => {
      const stepMs = prng.int(-120, 120) * MINUTE_MS;
      node.see({ kind: "clock", stepMs });
      node.clock.stepWallBy(stepMs);
    },
    clockDrifts: (prng) => {
      const ppm = prng.int(-MOST_DRIFT_PPM, MOST_DRIFT_PPM);
      node.note(`wall clock drifts by ${ppm} ppm`);
      node.clock.setDriftPpm(ppm);
    },
    diskFull: (prng) => {
      const fill = (how: Partial<SimFill>) => () => node.host.disk.fill("/", FILLER, how);
      forAWhile("free space on the disk", prng, fill(ALL_THERE_IS), fill({}));
    },
    networkNotReady: (prng) => {
      const setReason = (reason: string) => () => node.runtime.setCondition("NetworkReady", reason);
      forAWhile("network", prng, setReason("cni plugin not initialized"), setReason(""));
    },
    ...(page && {
      pageDown: (prng: Prng) =>
        forAWhile(
          "server of manifests",
          prng,
          () => page.goDown(prng),
          () => page.comeBack(),
        ),
    }),
  };
}

const containerAccidents = (node: SimNode): AccidentTable => ({
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
});

const ownerAccidents = (owners: NonNullable<Surroundings["owners"]>): AccidentTable => ({
  manifestHalfWritten: (prng) => void owners.spoilManifest("cut", prng.int(10, MINUTE_MS), prng),
  manifestVanishes: (prng) => void owners.spoilManifest("away", prng.int(10, 2 * MINUTE_MS), prng),
  podReplaced: (prng) => void owners.replacePod(prng),
  roomTaken: (prng) => void owners.takeResources(prng),
});
