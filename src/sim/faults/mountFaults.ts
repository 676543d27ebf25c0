/** Faults of the mount table and of volume writes: errors before and after the effect, delays, stuck mounts. */
import { type ErrorCode, kubeletError } from "../../core/errors.ts";
import type { SimAction } from "../runtime/simCall.ts";
import type { SimMountsOptions } from "../host/simMounts.ts";
import type { SimVolumeFilesOptions } from "../host/simVolumeFiles.ts";
import type { FaultDice } from "./faultDice.ts";

/** The fields are options of a node, with the same names. */
export interface MountFaults {
  readonly mountFate: NonNullable<SimMountsOptions["fate"]>;
  readonly mountGoesOn: NonNullable<SimMountsOptions["goesOn"]>;
  readonly volumeFault: NonNullable<SimVolumeFilesOptions["fault"]>;
}

const PROCEED: SimAction = { kind: "proceed" };
const SLOWEST_MS = 60_000;
const CHANGES = new Set(["mount", "bind", "makeReadOnly", "bindInside", "makeInside"]);

/** Creates the faults. A stuck mount no longer responds to a normal unmount; a lazy unmount works. */
export function createMountFaults(dice: FaultDice): MountFaults {
  const stuck = new Set<string>();
  const asked = new Map<string, number>();
  const numbered = (what: string): string => {
    const count = (asked.get(what) ?? 0) + 1;
    asked.set(what, count);
    return `${what} ${count}`;
  };
  const unmountFate = (target: string): SimAction => {
    if (dice.isHealed) return PROCEED;
    if (!stuck.has(target)) {
      const fault = dice.roll(["unmountStuck", "unmountFails"], numbered(`unmount ${target}`));
      if (fault === undefined) return PROCEED;
      if (fault.kind === "unmountFails") return fail(`cannot unmount ${target}: target is busy`);
      stuck.add(target);
    }
    return { kind: "hang" };
  };
  return {
    mountFate(operation, target) {
      if (operation === "lazy unmount") stuck.delete(target);
      if (operation === "unmount") return unmountFate(target);
      if (!CHANGES.has(operation)) return PROCEED;
      const what = numbered(`${operation} ${target}`);
      const fault = dice.roll(["mountFails", "mountReplyLost", "mountSlow"], what);
      switch (fault?.kind) {
        case "mountFails":
          return fail(`cannot ${operation} ${target}: exit status 32: something went wrong`);
        case "mountReplyLost":
          return {
            kind: "loseReply",
            error: kubeletError("DeadlineExceeded", `${operation} ${target}: not done in time`),
          };
        case "mountSlow":
          return { kind: "delay", ms: fault.prng.int(1, SLOWEST_MS) };
        default:
          return PROCEED;
      }
    },
    mountGoesOn: (operation, target) =>
      dice.roll(["mountGoesOn"], numbered(`left ${operation} ${target}`)) !== undefined,
    volumeFault(operation, dir): ErrorCode | undefined {
      if (operation === "usage") return undefined;
      return dice.roll(["volumeWriteFails"], numbered(`${operation} ${dir}`)) && "Io";
    },
  };
}

const fail = (message: string): SimAction => ({ kind: "fail", error: kubeletError("Io", message) });
