/** All faults of a simulated node, the units of their rates, and the highest default rates. */
import { type KubeletError, kubeletError } from "../../core/errors.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Prng } from "../prng.ts";

interface FaultKindInfo {
  /** The unit of a rate: a probability per event, in [0, 1], or a number per hour. */
  readonly per:
    | "call"
    | "effect"
    | "abandoned call"
    | "event"
    | "start"
    | "exit"
    | "pull"
    | "request"
    | "mount"
    | "unmount"
    | "write"
    | "plugin call"
    | "volume call"
    | "attach"
    | "hour";
  /** Highest rate the default draws. */
  readonly highest: number;
  readonly about: string;
}

/** The kinds. */
export const FAULT_KINDS = {
  criFails: { per: "call", highest: 0.3, about: "an error from the runtime, nothing happened" },
  criReplyLost: { per: "call", highest: 0.2, about: "an error from the runtime, but it happened" },
  criSlow: { per: "call", highest: 0.3, about: "a call takes up to 30 s longer" },
  criHangs: { per: "call", highest: 0.01, about: "a call gets no response" },
  criGoesOn: { per: "abandoned call", highest: 1, about: "a call takes effect after its caller left" },
  kubeletCrashesInCall: { per: "effect", highest: 0.02, about: "the kubelet ends while the runtime works for it" },
  eventLost: { per: "event", highest: 0.6, about: "an event of the runtime is lost" },
  eventTwice: { per: "event", highest: 0.3, about: "an event of the runtime arrives twice" },
  eventLate: {
    per: "event",
    highest: 0.4,
    about: "an event of the runtime arrives up to 60 s later, after newer ones",
  },
  eventStreamBreaks: { per: "hour", highest: 12, about: "the event stream ends" },
  runtimeCrashes: { per: "hour", highest: 3, about: "the runtime ends and starts again, containers run on" },
  runtimeDies: { per: "hour", highest: 1, about: "the runtime ends with all its containers and starts again" },
  reboot: { per: "hour", highest: 1, about: "the machine reboots" },
  kubeletCrashes: { per: "hour", highest: 6, about: "the kubelet ends and starts again on the same disk" },
  wallClockSteps: { per: "hour", highest: 4, about: "the wall clock steps by up to 2 h, forward or back" },
  diskFull: { per: "hour", highest: 2, about: "nothing can be written for up to 5 min" },
  networkNotReady: { per: "hour", highest: 2, about: "the runtime has no network for up to 5 min" },
  containerExits: { per: "hour", highest: 40, about: "a container exits" },
  sandboxExits: { per: "hour", highest: 6, about: "the pause process of a sandbox ends" },
  unkillable: { per: "start", highest: 0.1, about: "KILL reaches a process only up to 10 min later" },
  pullFails: { per: "pull", highest: 0.6, about: "an image cannot be pulled" },
  pullSlow: { per: "pull", highest: 0.4, about: "a pull takes up to 5 min longer" },
  manifestHalfWritten: { per: "hour", highest: 6, about: "a manifest is cut short for up to 1 min" },
  manifestVanishes: { per: "hour", highest: 6, about: "a manifest is away for up to 2 min" },
  podReplaced: { per: "hour", highest: 6, about: "an API pod is force deleted and created again with its name" },
  apiOutage: { per: "hour", highest: 4, about: "the API server rejects, fails, hangs or is slow for up to 10 min" },
  apiWatchGap: { per: "hour", highest: 12, about: "the watches of pods end, maybe before a pending event" },
  apiGone: { per: "hour", highest: 4, about: "the API server forgets its history: 410 Gone" },
  apiConflict: { per: "hour", highest: 20, about: "another client writes to an API pod" },
  // Rates are drawn in this order: add new kinds at the end, so that seeds keep their other faults.
  pageDown: { per: "hour", highest: 4, about: "the server of manifests does not answer for up to 5 min" },
  pageCut: { per: "request", highest: 0.3, about: "the server of manifests sends a part of the body" },
  pageStale: { per: "request", highest: 0.2, about: "the server of manifests sends a body without the last changes" },
  clockDrifts: { per: "hour", highest: 4, about: "the wall clock runs fast or slow by up to 1 % from now on" },
  memoryHog: { per: "start", highest: 0.1, about: "a program is killed for memory within 10 min of its start" },
  mountFails: { per: "mount", highest: 0.3, about: "something cannot be mounted, nothing happened" },
  mountReplyLost: { per: "mount", highest: 0.2, about: "a mount fails for the kubelet, but it happened" },
  mountSlow: { per: "mount", highest: 0.3, about: "a mount takes up to 60 s longer" },
  mountGoesOn: { per: "abandoned call", highest: 1, about: "a mount takes effect after its kubelet left" },
  unmountStuck: { per: "unmount", highest: 0.2, about: "an unmount hangs until the mount is detached" },
  unmountFails: { per: "unmount", highest: 0.3, about: "a mount is in use and cannot be unmounted" },
  volumeWriteFails: { per: "write", highest: 0.3, about: "the files or the owner of a volume cannot be changed" },
  roomTaken: {
    per: "hour",
    highest: 12,
    about: "pods are force deleted, and others bound that need their resources",
  },
  imagesPile: { per: "hour", highest: 12, about: "another client pulls up to 6 images of up to 10 GiB" },
  imageLarge: { per: "pull", highest: 0.3, about: "an image has up to 8 GiB" },
  diskFills: { per: "hour", highest: 6, about: "other programs take up to 85 % of the disk for up to 20 min" },
  memoryTaken: { per: "hour", highest: 4, about: "other programs leave up to 1 GiB of memory for up to 20 min" },
  memoryLeak: { per: "start", highest: 0.3, about: "a program uses more and more memory and threads, or less again" },
  memoryStays: { per: "exit", highest: 0.5, about: "the memory of a program is freed up to 20 s after its exit" },
  volumeGrows: { per: "start", highest: 0.3, about: "a program writes up to 20 GiB to an emptyDir" },
  pidsTaken: { per: "hour", highest: 4, about: "other programs leave up to 4,000 process ids for up to 20 min" },
  filesGrow: { per: "start", highest: 0.3, about: "a program creates up to 1,000,000 files in an emptyDir" },
  pluginFails: { per: "plugin call", highest: 0.3, about: "a device plugin or driver fails, nothing happened" },
  pluginReplyLost: { per: "plugin call", highest: 0.2, about: "a device plugin or driver fails, but it happened" },
  pluginSlow: { per: "plugin call", highest: 0.3, about: "a device plugin or driver takes up to 25 s longer" },
  pluginLies: { per: "plugin call", highest: 0.2, about: "a device plugin or driver answers what cannot be used" },
  pluginHangs: { per: "plugin call", highest: 0.05, about: "a device plugin or driver does not answer" },
  pluginEnds: { per: "hour", highest: 20, about: "a device plugin or driver ends, and starts up to 6 min later" },
  pluginRestarts: { per: "hour", highest: 12, about: "a device plugin or driver registers again, in another way" },
  devicesChange: { per: "hour", highest: 40, about: "devices become ill, vanish from their list, or come back" },
  pluginEndsInCall: { per: "volume call", highest: 0.1, about: "a CSI driver ends while it works for the kubelet" },
  socketVanishes: { per: "hour", highest: 12, about: "the socket of a CSI driver is away for up to 1 min" },
  attachFails: { per: "attach", highest: 0.5, about: "a volume cannot be attached" },
  attachSlow: { per: "attach", highest: 0.5, about: "a volume is attached up to 4 min later" },
  nodeShutsDown: { per: "hour", highest: 3, about: "the machine shuts down and boots, or the shutdown is cancelled" },
  offlineBoot: { per: "hour", highest: 3, about: "the power fails, and the API server is away for up to 10 min" },
} as const satisfies Readonly<Record<string, FaultKindInfo>>;

/** Name of a kind. */
export type FaultKind = keyof typeof FAULT_KINDS;

/** A rate for every kind, in the unit of the kind. */
export type FaultRates = Readonly<Record<FaultKind, number>>;

const KINDS = Object.keys(FAULT_KINDS) as readonly FaultKind[];

const infoOf = (kind: FaultKind): FaultKindInfo => FAULT_KINDS[kind];

const ratesOf = (rate: (kind: FaultKind) => number): FaultRates =>
  Object.fromEntries(KINDS.map((kind) => [kind, rate(kind)])) as FaultRates;

/** No faults at all. */
export const noFaults = (): FaultRates => ratesOf(() => 0);

/** Draws the rates of one run: high for some kinds, low for others, and zero for the rest. */
export function drawFaultRates(prng: Prng): FaultRates {
  const share = prng.pick([0.15, 0.4, 0.7]);
  return ratesOf((kind) => {
    const { highest } = infoOf(kind);
    const isOn = prng.chance(share);
    const part = prng.next() ** 2;
    return isOn ? highest * part : 0;
  });
}

/** Parses rates from a JSON object of kinds and numbers; omitted kinds do not happen. */
export function readFaultRates(text: string): Result<FaultRates> {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (thrown) {
    return err(invalid(`is not JSON: ${String(thrown)}`));
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return err(invalid("must be an object of fault kinds and rates"));
  }
  const rates = new Map<string, number>();
  for (const [kind, rate] of Object.entries(given)) {
    if (!Object.hasOwn(FAULT_KINDS, kind)) return err(invalid(`${kind} is no fault; there are ${KINDS.join(", ")}`));
    const { per } = infoOf(kind as FaultKind);
    const most = per === "hour" ? 3_600 : 1;
    if (typeof rate !== "number" || !(rate >= 0 && rate <= most)) {
      return err(invalid(`${kind} must be a number from 0 to ${most} (per ${per}), got ${JSON.stringify(rate)}`));
    }
    rates.set(kind, rate);
  }
  return ok(ratesOf((kind) => rates.get(kind) ?? 0));
}

const invalid = (why: string): KubeletError => kubeletError("InvalidArgument", `fault rates: ${why}`);
