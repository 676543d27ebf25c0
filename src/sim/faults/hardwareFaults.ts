/**
 * Faults of device plugins and drivers: errors before and after the effect, late answers, lies, calls without an answer,
 * ends of their processes, and devices that become ill or vanish. simRun.ts connects them to the hardware of a node.
 */
import type { SimPluginFaults, SimPluginRpc } from "../hardware/pluginCall.ts";
import type { SimHardware } from "../hardware/simHardware.ts";
import { GOOD_VERSIONS, type SimPluginProcess } from "../hardware/simPluginProcess.ts";
import type { Prng } from "../prng.ts";
import type { SimNode } from "../simNode.ts";
import { SIM_PLUGIN_RESOURCES } from "../hardware/simDevicePlugins.ts";
import type { FaultDice } from "./faultDice.ts";
import type { Later } from "./outages.ts";

const CRASHES = ["kubeletCrashesInCall"] as const;
const ANSWERS = ["pluginFails", "pluginReplyLost", "pluginSlow", "pluginLies", "pluginHangs"] as const;
/** Calls with side effects. */
const EFFECTS: ReadonlySet<SimPluginRpc> = new Set<SimPluginRpc>([
  "Allocate",
  "PreStartContainer",
  "NodePrepareResources",
  "NodeUnprepareResources",
  "NodeStageVolume",
  "NodeUnstageVolume",
  "NodePublishVolume",
  "NodeUnpublishVolume",
  "NodeExpandVolume",
]);
/** Codes of gRPC for failed calls: Unknown, InvalidArgument, NotFound, ResourceExhausted, Aborted, Internal, Unavailable. */
const STATUSES = [2, 3, 5, 8, 10, 13, 14];
/** The same, FailedPrecondition and OutOfRange. */
const EXPANSION_STATUSES = [...STATUSES, 9, 9, 11];
const SLOWEST_MS = 25_000;
const LATEST_CRASH_MS = 300;
/** Longer than a kubelet waits for a device plugin. */
const LONGEST_ABSENCE_MS = 6 * 60_000;
const SHORT_ABSENCE_MS = 3_000;
const MOST_LIES = 6;

/** Versions that no kubelet has. */
const WRONG_VERSIONS = { DevicePlugin: ["v1alpha1"], DRAPlugin: ["v2.DRAPlugin"], CSIPlugin: ["2.0.0"] } as const;
/** Older versions that a kubelet has. */
const OLD_VERSIONS = { DevicePlugin: ["v1beta1"], DRAPlugin: ["v1beta1.DRAPlugin"], CSIPlugin: ["1.0.0"] } as const;

/** Decides about each call. `crashKubelet` crashes the kubelet after a delay. */
export function pluginFaults(dice: FaultDice, crashKubelet: (afterMs: number, prng: Prng) => void): SimPluginFaults {
  const asked = new Map<string, number>();
  return (rpc, plugin) => {
    if (dice.isHealed) return { kind: "answer" };
    const count = (asked.get(`${rpc} ${plugin}`) ?? 0) + 1;
    asked.set(`${rpc} ${plugin}`, count);
    const what = `${rpc} ${plugin} ${count}`;
    const crash = EFFECTS.has(rpc) ? dice.roll(CRASHES, what) : undefined;
    if (crash !== undefined) crashKubelet(crash.prng.int(0, LATEST_CRASH_MS), crash.prng);
    const fault = dice.roll(ANSWERS, what);
    switch (fault?.kind) {
      case "pluginFails":
        return { kind: "fail", status: fault.prng.pick(rpc === "NodeExpandVolume" ? EXPANSION_STATUSES : STATUSES) };
      case "pluginReplyLost":
        return { kind: "loseReply", status: fault.prng.pick(STATUSES) };
      case "pluginSlow":
        return { kind: "delay", ms: fault.prng.int(1, SLOWEST_MS) };
      case "pluginLies":
        return { kind: "lie", which: fault.prng.int(0, MOST_LIES) };
      case "pluginHangs":
        return { kind: "hang" };
      default:
        return { kind: "answer" };
    }
  };
}

/** Creates the accidents of plugins over time. */
export const hardwareAccidents = (node: Pick<SimNode, "note">, hardware: SimHardware, later: Later) => ({
  ...processAccidents(node, hardware.processes, later),
  devicesChange(prng: Prng): void {
    const { resource } = prng.pick(SIM_PLUGIN_RESOURCES);
    node.note(`devices of ${resource} change`);
    hardware.changeDevices(resource, prng);
  },
});

/** Creates the accidents of processes; `rename` makes a plugin tell something else after its start. */
export function processAccidents(
  node: Pick<SimNode, "note">,
  processes: readonly SimPluginProcess[],
  later: Later,
  rename: (name: string) => void = () => {},
) {
  return {
    pluginEnds(prng: Prng): void {
      const process = prng.pick(processes);
      if (!process.isUp) return;
      node.note(`plugin ${process.name} ends`);
      process.end(prng.chance(0.5));
      const settings = drawStart(process, prng);
      later(prng.chance(0.6) ? prng.int(1, SHORT_ABSENCE_MS) : prng.int(1, LONGEST_ABSENCE_MS), () => {
        if (process.isUp) return;
        node.note(`plugin ${process.name} starts: ${settings.way}, ${settings.versions.join(",")}`);
        process.start(settings);
      });
    },
    pluginRestarts(prng: Prng): void {
      const process = prng.pick(processes);
      const settings = drawStart(process, prng);
      rename(process.name);
      node.note(`plugin ${process.name} starts again: ${settings.way}, ${settings.versions.join(",")}`);
      process.start(settings);
    },
  };
}

/** Draws another way to register, and sometimes versions that the kubelet refuses or an older one. */
function drawStart({ type, way }: SimPluginProcess, prng: Prng) {
  const draw = prng.next();
  const versions = draw < 0.2 ? WRONG_VERSIONS[type] : draw < 0.5 ? OLD_VERSIONS[type] : GOOD_VERSIONS[type];
  const ways = type === "DevicePlugin" ? (["kubelet.sock", "directory"] as const) : ([way] as const);
  return { way: prng.pick(ways), versions };
}
