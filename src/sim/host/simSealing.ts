/** The Sealing port of the simulation: readable, and bound to the name of the record. Stateless. */
import { kubeletError } from "../../core/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Sealing } from "../../ports/sealing.ts";
import { later } from "../runtime/simCall.ts";

/** Creates the port. */
export const createSimSealing = (clock: Clock): Sealing => ({
  seal: (name, text) => later(clock, 0, () => `sealed ${name} ${text}`),
  open: (name, sealed) =>
    later(clock, 0, () => {
      const prefix = `sealed ${name} `;
      if (!sealed.startsWith(prefix)) throw kubeletError("InvalidArgument", "it is damaged or has another name");
      return sealed.slice(prefix.length);
    }),
});
