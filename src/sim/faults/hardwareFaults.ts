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
]);
const SLOWEST_MS = 25_000;
const LATEST_CRASH_MS = 300;
/** Longer than a kubelet waits for a device plugin. */
const LONGEST_ABSENCE_MS = 6 * 60_000;
const SHORT_ABSENCE_MS = 3_000;
const MOST_LIES = 6;

/** Versions that no kubelet has. */
const WRONG_VERSIONS = { DevicePlugin: ["v1alpha1"], DRAPlugin: ["v2.DRAPlugin"] } as const;

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
        return { kind: "fail" };
      case "pluginReplyLost":
        return { kind: "loseReply" };
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
export function hardwareAccidents(node: Pick<SimNode, "note">, hardware: SimHardware, later: Later) {
  return {
    pluginEnds(prng: Prng): void {
      const process = prng.pick(hardware.processes);
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
      const process = prng.pick(hardware.processes);
      const settings = drawStart(process, prng);
      node.note(`plugin ${process.name} starts again: ${settings.way}, ${settings.versions.join(",")}`);
      process.start(settings);
    },
    devicesChange(prng: Prng): void {
      const { resource } = prng.pick(SIM_PLUGIN_RESOURCES);
      node.note(`devices of ${resource} change`);
      hardware.changeDevices(resource, prng);
    },
  };
}

/** Draws another way to register, and sometimes versions that the kubelet refuses or an older one. */
function drawStart({ type, way }: SimPluginProcess, prng: Prng) {
  const isDriver = type === "DRAPlugin";
  const kind = isDriver ? "DRAPlugin" : "DevicePlugin";
  const draw = prng.next();
  const old = isDriver ? ["v1beta1.DRAPlugin"] : GOOD_VERSIONS[kind];
  const versions = draw < 0.2 ? WRONG_VERSIONS[kind] : draw < 0.5 ? old : GOOD_VERSIONS[kind];
  const ways = isDriver ? ([way] as const) : (["kubelet.sock", "directory"] as const);
  return { way: prng.pick(ways), versions };
}
