/**
 * Inspections that can wait for the next one of a round, which shows the effects of both: an inspection costs the runtime two
 * lists, and the worker a round.
 */
import type { OperatorFunction } from "rxjs";
import { heldBack } from "../../operators/heldBack.ts";
import { inspect, type PodContext } from "../podContext.ts";
import type { RoundOutput } from "./roundFailure.ts";

/** Asks for an inspection that can wait for the next one of the round. */
export interface InspectLater {
  readonly kind: "inspectLater";
}

/** See `InspectLater`. */
export const INSPECT_LATER: InspectLater = { kind: "inspectLater" };

/** Time after which the status shows the effect while the next one takes long: upstream's relist period. */
const SHOWS_MS = 1_000;

/** Requests what can wait: with the next inspection, when the round ends, or after `SHOWS_MS`. */
export const inspectedLater = (context: PodContext): OperatorFunction<RoundOutput | InspectLater, RoundOutput> =>
  heldBack<RoundOutput, InspectLater>(
    context.ports.clock,
    SHOWS_MS,
    (output): output is InspectLater => output.kind === "inspectLater",
    (output) => output.kind === "inspect",
    () => inspect(context),
  );
